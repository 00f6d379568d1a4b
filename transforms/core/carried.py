"""State that is carried from night to night: rows in parts, each with a digest of all that it was computed from.

Parts that would be made of the same are taken over, the others are computed. So a state is the same whatever was kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from slowwave.transforms.core.arrays import Integers
from slowwave.transforms.core.hashing import DIGEST_BYTES, digest


def contents(rows: pl.DataFrame, part: str) -> dict[Any, str]:
    """By value of the column `part` a digest of its rows, whatever their order."""
    told = rows.select(part, pl.struct(pl.exclude(part)).struct.json_encode().alias("row"))  # holds no line break
    joined = told.sort(part, "row").group_by(part, maintain_order=True).agg(pl.col("row").str.join("\n"))
    return {value: digest([text]) for value, text in joined.iter_rows()}


def contents_in_order(part: Integers, columns: Sequence[NDArray[Any]]) -> dict[int, str]:
    """By value of `part` a digest of its rows, in the order in which they come; texts are of one length each."""
    order = np.argsort(part, kind="stable")
    values, starts = np.unique(part[order], return_index=True)
    ordered = [np.ascontiguousarray(column[order]) for column in columns]
    found: dict[int, str] = {}
    for value, begin, end in zip(values, starts, [*starts[1:], len(order)], strict=False):
        state = hashlib.blake2b(b"%d %d;" % (end - begin, len(columns)), digest_size=DIGEST_BYTES)
        for column in ordered:
            state.update(column[begin:end].tobytes())
        found[int(value)] = state.hexdigest()
    return found


def taken_over(before: pl.DataFrame, made_of: Mapping[str, str]) -> pl.DataFrame:
    """The rows of `before` (part, made_of and more) whose part was made of what it is made of now."""
    return before.join(_as_frame(made_of), on=["part", "made_of"], how="semi")


def with_made_of(rows: pl.DataFrame, made_of: Mapping[str, str]) -> pl.DataFrame:
    """Rows with a part, and what that was made of."""
    return rows.join(_as_frame(made_of), on="part", how="left")


def _as_frame(made_of: Mapping[str, str]) -> pl.DataFrame:
    schema = {"part": pl.String, "made_of": pl.String}
    return pl.DataFrame({"part": list(made_of), "made_of": list(made_of.values())}, schema=schema)
