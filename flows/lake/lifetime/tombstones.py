"""Tombstones: keyed hashes of the ids that were erased from a lake, in its decisions, and the key of these hashes.

A hash tells whether an id that is delivered again is one of them, and nothing else: without the key, which never leaves
the lake, not even that. `erased/intent.json` is there as long as an erasure has begun and not ended.
Also which rows an erasure took, by their hashes.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterable
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import BinaryIO

import polars as pl

from slowwave.flows.kernel.storage.storage import storage_of
from slowwave.flows.lake.files import files_by_day
from slowwave.flows.lake.lake import Lake
from slowwave.flows.lake.sql import lake_rows
from slowwave.transforms.landing.erasure import names_erased, refuse_erased
from slowwave.transforms.landing.landed_rows import LandedRows
from slowwave.transforms.landing.ledger_tables import Quarantine, RunFiles

ERASE = "erase"
FOLDER = "erased"
_KEY, _INTENT = "key", "intent.json"
_KEY_BYTES, _HASH_CHARACTERS = 32, 32
_TOMBSTONES = "SELECT target, \"values\", decided_at FROM {files} WHERE command = 'erase'"


def intent_path(root: Path) -> Path:
    """Return where it is written down what an erasure takes that has begun."""
    return root / FOLDER / _INTENT


def is_erasing(root: Path) -> bool:
    """Return whether an erasure has begun and not ended."""
    return storage_of(root).exists(intent_path(root))


def read_hash_key(root: Path) -> bytes | None:
    """Return the key of the lake's hashes; None where nothing was ever erased. Raises OSError if it is unreadable."""
    try:
        path = root / FOLDER / _KEY
        return bytes.fromhex(storage_of(path).read(path).decode("ascii"))
    except FileNotFoundError:
        return None


def ensure_hash_key(root: Path) -> bytes:
    """Return the key, made once, for its owner alone whatever the umask. Raises OSError as the disk does."""
    found = read_hash_key(root)
    if found is not None:
        return found
    key = secrets.token_bytes(_KEY_BYTES)
    write_for_owner(root / FOLDER / _KEY, key.hex().encode())
    return key


def write_for_owner(path: Path, content: bytes) -> None:
    """Write a file that only its owner may read. Raises OSError as the disk does."""

    def write(aside: Path) -> None:
        with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as handle:
            handle.write(content)

    storage_of(path).write(path, write)


def compute_keyed_hash(key: bytes, kind: str, name: str) -> str:
    """Return what stands for an id: `kind` is its landed table, or `user` or `session`."""
    said = f"{kind}:{name}".encode("utf-8", "surrogatepass")
    return hmac.new(key, said, hashlib.sha256).hexdigest()[:_HASH_CHARACTERS]


class Tombstones:
    """The ids that were erased from a lake: one can be asked for, and none listed."""

    def __init__(self, key: bytes, days: dict[str, datetime]) -> None:
        self._key = key
        self._days = days
        self.last = max(days.values())
        self.is_erased = cache(self._is_erased)

    def erased_at(self, kind: str, name: str) -> datetime | None:
        """Return when an id of a landed table, a user or a session was erased; None: it was not."""
        return self._days.get(compute_keyed_hash(self._key, kind, name))

    def _is_erased(self, kind: str, name: str) -> bool:
        return self.erased_at(kind, name) is not None


def read_tombstones(root: Path) -> Tombstones | None:
    """Return what was erased from the lake; None where nothing was: then nothing but the key is looked for."""
    key = read_hash_key(root)
    files = [file for of_day in files_by_day(root, "decisions").values() for file in of_day] if key else []
    days: dict[str, datetime] = {}
    for row in lake_rows(_TOMBSTONES, files) if files else []:
        for one in _list_hashes(row["target"], json.loads(row["values"])["hashes"]):
            days[one] = max(row["decided_at"], days.get(one, row["decided_at"]))
    return Tombstones(key, days) if key and days else None


def _list_hashes(target: str, listed: Iterable[str]) -> Iterable[str]:
    """A tombstone's hashes: of what was named, and of the ids that went with it."""
    return [target.partition(":")[2], *listed]


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
