"""Content hashes: of rows, of keys, and of sets of rows. The same value has the same hash on every machine and day."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import polars as pl

DIGEST_BYTES = 16


@dataclass(frozen=True)
class Joined:
    """Texts that stand for one: themselves with line breaks between them."""

    texts: Sequence[str]


def digest(parts: Iterable[str | Joined]) -> str:
    """128-bit BLAKE2b of a sequence of texts, in hex; each part is length-prefixed, so no two sequences meet."""
    state = hashlib.blake2b(digest_size=DIGEST_BYTES)
    for part in parts:
        if isinstance(part, str):
            raw = part.encode()
            state.update(b"%d:" % len(raw))
            state.update(raw)
            continue
        size = sum(len(text.encode()) for text in part.texts) + max(len(part.texts) - 1, 0)
        state.update(b"%d:" % size)
        for number, text in enumerate(part.texts):
            state.update((f"\n{text}" if number else text).encode())
    return state.hexdigest()


def hash_texts(text: pl.Series) -> pl.Series:
    """128-bit BLAKE2b in hex of each text."""
    blake2b = hashlib.blake2b
    return pl.Series(
        text.name,
        [blake2b(value, digest_size=DIGEST_BYTES).hexdigest() for value in as_bytes(text)],
        dtype=pl.String,
    )


def digests(rows: pl.DataFrame) -> pl.Series:
    """`digest` of the texts of each row; none is NULL."""
    sizes = {name: pl.col(name).str.len_bytes().cast(pl.String) for name in rows.columns}
    parts = [part for name, size in sizes.items() for part in (size, pl.lit(":"), pl.col(name))]
    return hash_texts(rows.select(pl.concat_str(parts).alias("digest")).to_series())


def as_bytes(text: pl.Series) -> list[bytes]:
    """The texts as UTF-8: as texts they would be decoded, only to be encoded again."""
    return text.cast(pl.Binary).to_list()


def canonical_text(name: str, dtype: pl.DataType) -> pl.Expr:
    """One column as text that starts with its name and length; NULL stays NULL."""
    value = pl.col(name)
    if isinstance(dtype, pl.Datetime):
        value = value.dt.timestamp("us").cast(pl.String)
    elif isinstance(dtype, pl.List):
        item = pl.element() if isinstance(dtype.inner, pl.String) else pl.element().struct.json_encode()
        # not pl.format: inside list.eval it panics in Polars 2.1 where a chunk of the column holds no item
        parts = value.list.eval(pl.concat_str(item.str.len_bytes().cast(pl.String), pl.lit(":"), item))
        value = parts.list.join("")
    elif not isinstance(dtype, pl.String):
        value = value.cast(pl.String)
    return pl.format("{}={}:{};", pl.lit(name), value.str.len_bytes(), value)


def canonical_row(schema: dict[str, pl.DataType]) -> pl.Expr:
    """The named columns as one text. NULLs leave no trace, so a column added later changes no hash."""
    return pl.concat_str([canonical_text(name, dtype) for name, dtype in schema.items()], ignore_nulls=True)


def rows_digest(row_hashes: pl.Series) -> str:
    """Digest of a set of rows: independent of their order."""
    return digest(["\n".join(row_hashes.unique().sort().to_list())])


# The digest of a set of rows, taken in parts: of a day that is larger than what is held at once.

_ROWS_AT_ONCE = 100_000


class RowsDigest:
    """`rows_digest` of more rows than are held as texts, which come in parts; each comes once."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def add(self, row_hashes: pl.Series) -> None:
        """Take some rows, by their hashes as `hashed` gives them."""
        self._parts.append(b"".join(row_hashes.str.decode("hex").to_list()))

    def digest(self) -> str:
        """Digest of all that were taken."""
        import numpy as np  # commands that plan load what is here, and few have a day so large

        ordered = np.frombuffer(b"".join(self._parts), dtype=f"S{DIGEST_BYTES}").copy()
        ordered.sort()
        state = hashlib.blake2b(digest_size=DIGEST_BYTES)
        state.update(b"%d:" % max(0, len(ordered) * (2 * DIGEST_BYTES + 1) - 1))
        for start in range(0, len(ordered), _ROWS_AT_ONCE):
            lines = ordered[start : start + _ROWS_AT_ONCE].tobytes().hex("\n", -DIGEST_BYTES)
            state.update((f"\n{lines}" if start else lines).encode())
        return state.hexdigest()
