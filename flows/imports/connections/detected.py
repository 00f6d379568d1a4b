"""What lies where the programs that can be imported from usually keep it: counted, and not read."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from slowwave.flows.imports.sources import SOURCES, Source


@dataclass(frozen=True)
class Detected:
    """Files of a source under one path: how many, their bytes, and when the first and the last were written, UTC."""

    source: Source
    path: Path
    files_count: int
    bytes_count: int
    oldest: datetime
    newest: datetime


def detected_at(source: Source, path: Path) -> Detected | None:
    """The files of a source under a path; None where there are none, or they cannot be listed."""
    try:
        states = [file.stat() for file in source.listed(path)] if path.exists() else []
    except OSError:
        return None
    if not states:
        return None
    times = [state.st_mtime for state in states]
    return Detected(
        source, path.absolute(), len(states), sum(state.st_size for state in states), _utc(min(times)), _utc(max(times))
    )


def detected() -> list[Detected]:
    """What is found where each source usually lies, each place once."""
    found: dict[tuple[str, Path], Detected] = {}
    for source in SOURCES:
        for root in source.roots:
            place = os.path.expandvars(os.path.expanduser(root))  # noqa: PTH111 - a Path keeps no variables
            one = detected_at(source, Path(place))
            if one is not None:
                found.setdefault((source.name, one.path.resolve()), one)
    return list(found.values())


def _utc(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)
