"""A digest of the code that computes what is published."""

from __future__ import annotations

from functools import cache
from importlib import resources

from slowwave.transforms.hashing import digest


@cache
def code_hash() -> str:
    """Digest of the sources of `transforms/`, `flows/` and the audits."""
    parts = []
    for package in ("slowwave.transforms", "slowwave.flows"):
        folder = resources.files(package)
        entries = [*folder.iterdir(), *(folder.joinpath("audits").iterdir() if package.endswith("flows") else ())]
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.name.endswith((".py", ".sql")):
                parts += [entry.name, entry.read_text(encoding="utf-8")]
    return digest(parts)
