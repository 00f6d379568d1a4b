"""The shipped score of likeness of two statements (`observe/1`).

A logistic regression (ridge 0.001 on standardised features, L-BFGS) of "people scored this pair of English sentences
4.5 or more of 5" on the features of `pair_scores`, fitted once on 5,223 scored pairs of captions, headlines and forum
posts. Fitted on one half it ranks the pairs of the other as well as when fitted on all. Log odds per unit. A released
version does not change.
"""

from __future__ import annotations

INTERCEPT = -9.741

COEFFICIENTS: dict[str, float] = {
    "alignment": 6.189,
    "alignment_of_shorter": 2.225,
    "vectors": 3.037,
    "odd_word": -1.392,
    "coverage": 0.579,
    "coverage_of_shorter": -1.578,
    "length_ratio": 1.410,
    "numbers_differ": -1.613,
    "shortness": 0.319,
}
