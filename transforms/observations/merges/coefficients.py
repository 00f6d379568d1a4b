"""The shipped weights of `merge_likeness` (`curate/2`).

A logistic regression (ridge 0.001 on standardised features, 0.3 on those of words, L-BFGS) of "people scored this pair
of English sentences 4.5 or more of 5" (softened with a width of 0.25) on 3,464 scored pairs of captions, headlines and
forum posts. Log odds per unit. A released version does not change.
"""

from __future__ import annotations

INTERCEPT = -8.431

LIKENESS: dict[str, float] = {
    "alignment": 4.681,
    "alignment_of_shorter": 2.040,
    "vectors": 3.468,
    "odd_word": -0.801,
    "coverage": 0.210,
    "coverage_of_shorter": -1.435,
    "length_ratio": 0.901,
    "numbers_differ": -0.726,
    "shortness": 0.096,
}

CONFLICTS: dict[str, float] = {
    "number": -0.923,
    "negation": -0.784,
    "date": -0.269,
    "name": 0.265,
    "opposite": -0.050,
    "role": -0.100,
    "qualifier": -0.033,
    "tense": -0.299,
    "question": -1.574,
    "change": -0.181,
}

MISSED = 0.001
"""Log odds per unit of `words_missed`."""

MISSED_BY_WORD = (
    33, -6, 33, -62, -27, 26, -20, 4, 39, 19, 22, 5, 43, -25, -9, -34, -20, -38, -21, -18, 48, -16, -24, -15, 4,
    -11, -26, 16, -6, 29, 1, -34, -46, 15, -44, 27, 14, -3, -10, 28, 24, -15, 8, -16, 41, 7, -21, -34, 65, 11, 14,
    -7, 11, -42, -14, -8, -7, 25, -3, 28, 14, -14, 28, 26, -25, -34, 62, 77, 50, 11, -17, -45, 40, -2, -37, -66, 29,
    -15, 14, -4, 31, 55, 66, 4, 8, -56, -38, 3, -52, 41, 8, -26, 24, 8, 43, -12, -29, -11, -42, 7, -18, 9, 5, 11,
    -17, -7, -14, -50, 13, -17, 15, 9, -1, -3, 5, 18, 12, 0, -13, 27, -5, -37, 25, 58, 14, 30, 37, -15, -27, -6, 17,
    -24, 39, 1, 28, -50, -9, 0, 7, -19, -47, 10, -35, 18, -39, -19, -38, 21, -19, -1, -18, 13, -37, -45, 0, 44, 59,
    21, -30, 36, -16, 28, -37, 41, -46, 2, 31, -25, 26, -2, -32, 19, -5, -31, -27, -50, -12, 2, 10, 15, -40, -4, 48,
    25, 17, 47, 55, 48, 45, -18, 32, 16, 35, 44, 20, -4, 2, 49, -43, 15, 14, 33, 65, 9, 13, 20, 2, -22, -23, -6, -2,
    -16, 17, 21, 20, 20, -6, -24, -9, -29, 50, -36, 43, -69, 11, -6, -38, 16, -90, -7, -27, 31, 59, -27, 25, 47,
    -44, -17, 61, -54, -7, -46, 20, -5, 3, 58, -6, -4, -14, -8, -3, -27, -14, 26, -2, 11,
)  # fmt: skip
"""How much a word is missed, per component of its unit vector: a thousandth of the log odds."""
