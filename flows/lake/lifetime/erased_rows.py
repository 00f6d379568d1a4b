"""Delivered rows of what was erased: refused for that reason, and neither their texts nor their bytes are kept."""

from __future__ import annotations

import shutil
import tempfile
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

import polars as pl

from slowwave.flows.lake.lake import Lake
from slowwave.flows.lake.lifetime.tombstones import Tombstones
from slowwave.transforms.landing.erasure import names_erased, refuse_erased
from slowwave.transforms.landing.landed_rows import LandedRows
from slowwave.transforms.landing.ledger_tables import Quarantine, RunFiles

ERASED_REASON = "it was erased by `slowwave erase`: what it names lands no more, and nothing of this row is kept"


class ErasedRows:
    """What a landing does about ids that were erased; with `keys` None, nothing."""

    def __init__(self, keys: Tombstones | None) -> None:
        self._keys = keys
        self._known: set[str] = set()
        self._landed_at: dict[str, datetime] | None = None

    def refuse_erased(self, landed: LandedRows) -> LandedRows:
        """Return `landed` with the rows of erased ids refused."""
        return refuse_erased(landed, self._keys.is_erased, ERASED_REASON) if self._keys else landed

    def blank_erased(self, refused: pl.DataFrame) -> pl.DataFrame:
        """Return rows of `quarantine`; those that name an erased id, for whatever reason refused, are blank."""
        if self._keys is None or refused.is_empty():
            return refused
        is_erased = self._keys.is_erased
        hit = pl.lit(pl.Series([names_erased(text, is_erased) for text in refused["raw_text"]], dtype=pl.Boolean))
        return refused.with_columns(
            reason=pl.when(hit).then(pl.lit(ERASED_REASON)).otherwise("reason"),
            raw_text=pl.when(hit).then(pl.lit("")).otherwise("raw_text"),
            kept_file=pl.when(hit).then(None).otherwise("kept_file"),
        )

    def has_erased(self, refused: pl.DataFrame) -> bool:
        """Return whether rows of erased ids are among refused ones: the bytes of their file are then not kept."""
        return self._keys is not None and bool((refused["reason"] == ERASED_REASON).any())

    def is_in_file(self, handle: BinaryIO) -> bool:
        """Return whether erased ids stand in a file that cannot be read as rows, as far as it can be decoded.

        Raises OSError as the disk does.
        """
        if self._keys is None:
            return False
        # loads DuckDB, which no other landing needs
        from slowwave.flows.lake.lifetime.file_texts import decode_texts

        with tempfile.NamedTemporaryFile(prefix="slowwave-looked-through-") as copy:
            handle.seek(0)
            shutil.copyfileobj(handle, copy)
            copy.flush()
            is_erased = self._keys.is_erased
            return any(names_erased(text, is_erased) for texts in decode_texts(Path(copy.name)) for text in texts)

    def may_hold_erased(self, lake: Lake, file_hash: str) -> bool:
        """Return whether a file with these bytes landed last before something was erased: it may hold rows of that.

        Not where they came with this run before: rows of that were refused then.
        """
        if self._keys is None:
            return False
        if self._landed_at is None:
            files = lake.ledger(RunFiles).group_by("file_hash").agg(pl.col("landed_at").max())
            self._landed_at = dict(files.iter_rows())
            self._known = set(lake.ledger(Quarantine, without=("raw_text", "header"))["quarantine_id"])
        landed_at = self._landed_at.pop(file_hash, None)
        return landed_at is not None and landed_at <= self._keys.last

    def select_newly_refused(self, refused: pl.DataFrame) -> pl.DataFrame:
        """Return those refused rows of erased ids that are not in quarantine yet."""
        return refused.filter(pl.col("reason") == ERASED_REASON, ~pl.col("quarantine_id").is_in(list(self._known)))


NONE_ERASED = ErasedRows(None)
