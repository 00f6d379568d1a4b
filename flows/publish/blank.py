"""The serving file with every table and no rows, kept: declaring tables takes longer than a small publish computes.

A column's comment is a statement, and there are hundreds. It is kept in this process, and in the `__pycache__` beside
this module where that can be written; what is found there is of these statements and this DuckDB, and whole, or it is
not used.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from functools import cache
from pathlib import Path

import duckdb

from slowwave.flows.kernel.store import TEMPORARY
from slowwave.transforms.core.hashing import digest
from slowwave.transforms.core.schema import duckdb_ddl
from slowwave.transforms.graph import SERVING

# The oldest storage version that holds all tables and comments: BI tools that ship DuckDB 1.x open it.
STORAGE_VERSION = "v1.0.0"
_FOLDER = Path(__file__).parent / "__pycache__"
_NAME, _DIGEST_BYTES = "blank-{}.duckdb", 32
_in_process: list[bytes] = []


@cache
def declarations() -> tuple[str, ...]:
    """The statements that declare every table, as this process knows them: the code on disk may have changed since."""
    return tuple(statement for table in SERVING for statement in duckdb_ddl(table))


def _path() -> Path:
    return _FOLDER / _NAME.format(f"{digest([STORAGE_VERSION, *declarations()])}-{duckdb.__version__}")


def kept_blank() -> bytes:
    """The file's bytes; none where it has to be made."""
    if not _in_process:
        with suppress(OSError):
            kept = _path().read_bytes()
            checksum, blank = kept[:_DIGEST_BYTES], kept[_DIGEST_BYTES:]
            if hashlib.sha256(blank).digest() == checksum:
                _in_process.append(blank)
    return _in_process[0] if _in_process else b""


def keep_blank(blank: bytes) -> None:
    """Keep the file for later, in place of others; where it cannot be written, for this process."""
    _in_process[:] = [blank]
    path = _path()
    aside = path.with_name(f".{path.name}.{os.getpid()}{TEMPORARY}")
    with suppress(OSError):
        _FOLDER.mkdir(exist_ok=True)
        try:
            aside.write_bytes(hashlib.sha256(blank).digest() + blank)
            aside.rename(path)
        finally:
            aside.unlink(missing_ok=True)
        for pattern in (_NAME.format("*"), f".{_NAME.format('*')}.*{TEMPORARY}"):  # those of the killed too
            for old in _FOLDER.glob(pattern):
                if old != path:
                    old.unlink(missing_ok=True)
