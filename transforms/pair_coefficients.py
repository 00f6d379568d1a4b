from __future__ import annotations
INTERCEPT = 0.0
COEFFICIENTS: dict[str, float] = dict.fromkeys(("alignment", "alignment_of_shorter", "vectors", "odd_word", "coverage", "coverage_of_shorter", "length_ratio",
    "numbers_differ", "shortness"), 0.0)
