"""What waits to be landed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Delivery:
    """A file to land: its path (None: standard input), and whether it is the inbox's, to be removed when landed."""

    source: str
    path: Path | None
    from_inbox: bool = False


def inbox_deliveries(inbox: Path) -> list[Delivery]:
    """What producers have dropped: whole regular files, oldest name first. Not `.tmp`, hidden files, links or pipes."""
    if not inbox.is_dir():
        return []
    return [
        Delivery(entry.name, Path(entry.path), from_inbox=True)
        for entry in sorted(os.scandir(inbox), key=lambda entry: entry.name)
        if entry.is_file(follow_symlinks=False) and not entry.name.startswith(".") and not entry.name.endswith(".tmp")
    ]
