"""Numbers as they stand in the sentences of published tables, row by row."""

from __future__ import annotations

import polars as pl


def decimals(number: pl.Expr) -> pl.Expr:
    """Two decimals, as in -0.12; NULL where the number is NULL or not finite."""
    hundredths = (number.abs() * 100).round().cast(pl.Int64, strict=False)
    sign = pl.when(number < 0).then(pl.lit("-")).otherwise(pl.lit(""))
    return pl.format("{}{}.{}", sign, hundredths // 100, (hundredths % 100).cast(pl.String).str.zfill(2))


def tenths(number: pl.Expr) -> pl.Expr:
    """One decimal, as in 11.4 or 0.3, of a number that is not negative; NULL where it is NULL or not finite."""
    found = (number * 10).round().cast(pl.Int64, strict=False)
    return pl.format("{}.{}", found // 10, found % 10)


def count_with_noun(count: pl.Expr, noun: str) -> pl.Expr:
    """The count and its noun, as in 1 injection or 41 injections; NULL where the count is NULL."""
    return pl.format("{} {}", count, pl.when(count == 1).then(pl.lit(noun)).otherwise(pl.lit(f"{noun}s")))
