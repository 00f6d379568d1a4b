"""A digest of the code that computes what is published."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable

from slowwave.transforms.core.hashing import digest


@cache
def code_hash() -> str:
    """Digest of the sources of `transforms/`, `flows/` and the audits."""
    parts = []
    for package in ("transforms", "flows"):
        for name, source in sorted(_sources(resources.files(f"slowwave.{package}"), package)):
            parts += [name, source]
    return digest(parts)


def _sources(folder: Traversable, path: str) -> Iterator[tuple[str, str]]:
    """Every module and query in a folder and the folders in it, by its path."""
    for entry in folder.iterdir():
        name = f"{path}/{entry.name}"
        if entry.name.endswith((".py", ".sql")):
            yield name, entry.read_text(encoding="utf-8")
        elif entry.name != "__pycache__" and entry.is_dir():
            yield from _sources(entry, name)
