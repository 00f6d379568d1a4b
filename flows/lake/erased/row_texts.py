"""Rows of any table as texts to look through: all that a row says in words, nested and in JSON, joined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

import orjson
import polars as pl

from slowwave.transforms.language.text_windows import BETWEEN


def leaves(value: Any) -> Iterator[str]:  # noqa: ANN401 - whatever a row holds
    """The texts in a value, in order; of a text that is JSON also those in it, and its keys."""
    waiting = [value]  # and not a call within a call: JSON may be nested deeper than these go
    while waiting:
        one = waiting.pop()
        if isinstance(one, (bytes, bytearray)):
            one = one.decode("utf-8", "replace")
        if isinstance(one, str):
            yield one
            if one[:1] in ("{", "["):
                with suppress(ValueError):
                    waiting.append(orjson.loads(one))
        elif isinstance(one, dict):
            waiting.extend(part for name, of in reversed(one.items()) for part in (of, str(name)))
        elif isinstance(one, (list, tuple)):
            waiting.extend(reversed(one))


def join_texts(values: Iterable[Any]) -> str:
    """The texts of one row as one."""
    return BETWEEN.join(["", *(text for value in values for text in leaves(value)), ""])


def row_texts(rows: pl.DataFrame) -> list[str]:
    """The text of each row; columns that hold no words are passed over."""
    names = [
        name for name, dtype in rows.schema.items() if dtype.is_nested() or isinstance(dtype, pl.String | pl.Binary)
    ]
    if not names:
        return [""] * rows.height
    return [join_texts(values) for values in rows.select(names).iter_rows()]
