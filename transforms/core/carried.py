"""State that is carried from night to night: rows in parts, each with a digest of all that it was computed from.

Parts that would be made of the same are taken over, the others are computed. So a state is the same whatever was kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from slowwave.transforms.core.hashing import digest


def contents(rows: pl.DataFrame, part: str) -> dict[Any, str]:
    """By value of the column `part` a digest of its rows, whatever their order."""
    told = rows.select(part, pl.struct(pl.exclude(part)).struct.json_encode().alias("row"))  # holds no line break
    joined = told.sort(part, "row").group_by(part, maintain_order=True).agg(pl.col("row").str.join("\n"))
    return {value: digest([text]) for value, text in joined.iter_rows()}


def taken_over(before: pl.DataFrame, made_of: Mapping[str, str]) -> pl.DataFrame:
    """The rows of `before` (part, made_of and more) whose part was made of what it is made of now."""
    return before.join(_as_frame(made_of), on=["part", "made_of"], how="semi")


def with_made_of(rows: pl.DataFrame, made_of: Mapping[str, str]) -> pl.DataFrame:
    """Rows with a part, and what that was made of."""
    return rows.join(_as_frame(made_of), on="part", how="left")


def _as_frame(made_of: Mapping[str, str]) -> pl.DataFrame:
    schema = {"part": pl.String, "made_of": pl.String}
    return pl.DataFrame({"part": list(made_of), "made_of": list(made_of.values())}, schema=schema)
