"""Tombstones: keyed hashes of the ids that were erased from a lake, in its decisions, and the key of these hashes.

A hash tells whether an id that is delivered again is one of them, and nothing else: without the key, which never leaves
the lake, not even that. `erased/intent.json` is there as long as an erasure has begun and not ended.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Iterable
from datetime import datetime
from functools import cache
from pathlib import Path

from slowwave.flows.kernel.storage.storage import storage_of
from slowwave.flows.lake.files import files_by_day
from slowwave.flows.lake.sql import lake_rows

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
