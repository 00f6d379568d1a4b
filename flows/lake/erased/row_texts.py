"""Rows of any table as texts to look through: all that a row says in words, nested and in JSON, joined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import orjson
import polars as pl

from slowwave.transforms.language.text_windows import BETWEEN


def leaves(value: Any) -> Iterator[str]:  # noqa: ANN401 - whatever a row holds
    """The texts in a value; of a text that is JSON also those in it, and its keys."""
    if isinstance(value, str):
        yield value
        if value[:1] in ("{", "["):
            try:
                yield from leaves(orjson.loads(value))
            except ValueError:
                return
    elif isinstance(value, dict):
        for name, of in value.items():
            yield str(name)
            yield from leaves(of)
    elif isinstance(value, (list, tuple)):
        for of in value:
            yield from leaves(of)
    elif isinstance(value, (bytes, bytearray)):
        yield from leaves(value.decode("utf-8", "replace"))


def joined(values: Iterable[Any]) -> str:
    """The texts of one row as one."""
    return BETWEEN.join(["", *(text for value in values for text in leaves(value)), ""])


def row_texts(rows: pl.DataFrame) -> list[str]:
    """The text of each row; columns that hold no words are passed over."""
    names = [
        name for name, dtype in rows.schema.items() if dtype.is_nested() or isinstance(dtype, pl.String | pl.Binary)
    ]
    if not names:
        return [""] * rows.height
    return [joined(values) for values in rows.select(names).iter_rows()]
