"""The digest of a set of rows, taken in parts: of a day that is larger than what is held at once."""

from __future__ import annotations

import hashlib

import polars as pl

from slowwave.transforms.core.hashing import DIGEST_BYTES

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
