"""Sums of floats that do not depend on the order of rows."""

from __future__ import annotations

import polars as pl

_FIXED_POINT = 2.0**60
_LIMIT = 1e20


def ordered_sum(values: pl.Expr) -> pl.Expr:
    """Sum of `values` in 2^-60 fixed point: the same to the last bit in any order of rows.

    NULL where their sizes add up to 1e20 or more, or a value is not finite: 128 bits would not hold it.
    """
    fixed = (values * _FIXED_POINT).round().cast(pl.Int128, strict=False).sum().cast(pl.Float64) / _FIXED_POINT
    return pl.when(values.abs().sum() < _LIMIT).then(fixed)
