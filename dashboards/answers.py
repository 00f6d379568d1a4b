"""Answers of the cookbook as frames: the one way in which report and dashboard come to a number."""

from __future__ import annotations

import duckdb
import polars as pl

from slowwave.dashboards.cookbook import cookbook


def answer(connection: duckdb.DuckDBPyConnection, name: str, **params: str) -> pl.DataFrame:
    """What the recipe `name` answers on a serving file; its defaults stand where `params` says nothing.

    Columns as in the recipe's header; sums of integers are Int64, an answer without rows keeps its columns.

    Raises KeyError for an unknown recipe, duckdb.Error when the query fails.
    """
    recipe = cookbook()[name]
    values = {param: default for param, default in recipe.params.items() if default is not None} | params
    frame = connection.sql(recipe.sql, params=values).pl()
    whole = [column for column, dtype in frame.schema.items() if _is_whole(dtype)]
    return frame.with_columns(pl.col(whole).cast(pl.Int64)) if whole else frame


def _is_whole(dtype: pl.DataType) -> bool:
    """DuckDB's sums of integers arrive as decimals without places, its counts in whatever width."""
    return dtype.is_integer() or (isinstance(dtype, pl.Decimal) and dtype.scale == 0)
