"""Outcomes that nobody reported: whether they count, beside those that somebody did."""

from __future__ import annotations

import polars as pl

from slowwave.transforms.core.vocabularies import Basis
from slowwave.transforms.learning.attempts.params import AttemptParams

# As published: why an inferred outcome counts for nothing.
NOT_LEARNED = "inferred, and learn_from_inferred is off"
REPORTED_TOO = "inferred, and its interaction has an outcome that was not"
_INFERRED: Basis = "inferred"
_REPORTED: Basis = "reported"


def with_apart(outcomes: pl.DataFrame, params: AttemptParams) -> pl.DataFrame:
    """Outcomes with `basis`, never NULL, and `apart`: why one counts for nothing, though it is known; NULL: it counts.

    An inferred outcome never takes the place of one that was reported or evaluated, whichever came later and whether
    that was an attempt or not. Where there is none such it counts if `learn_from_inferred` is set.

    Args:
        outcomes: interaction_id, basis (NULL or '': reported).
        params: whether inferred outcomes are learned from.
    """
    said = pl.when(pl.col("basis") != "").then("basis").otherwise(pl.lit(_REPORTED))
    is_inferred = pl.col("basis") == _INFERRED
    if params.learn_from_inferred:
        is_reported_too = (~is_inferred).any().over("interaction_id") & pl.col("interaction_id").is_not_null()
        apart = pl.when(is_inferred & is_reported_too).then(pl.lit(REPORTED_TOO))
    else:
        apart = pl.when(is_inferred).then(pl.lit(NOT_LEARNED))
    return outcomes.with_columns(said.alias("basis")).with_columns(apart.alias("apart"))
