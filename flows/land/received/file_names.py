"""The names of the receiver's files: which of its writes they hold, so that what a larger file holds too is known.

`capture-FIRST-LAST` may still be merged with others; `received-FIRST-LAST` is a landing's.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Lane = Literal["rows", "otlp"]
Stage = Literal["capture", "received"]
SUFFIXES: dict[Lane, str] = {"rows": ".jsonl", "otlp": ".otlp.jsonl"}
_LANES: dict[str, Lane] = {suffix: lane for lane, suffix in SUFFIXES.items()}
_NAME = re.compile(r"(capture|received)-([0-9]{17})-([0-9]{17})((?:\.otlp)?\.jsonl)")


@dataclass(frozen=True)
class ReceivedFile:
    """A file with the writes numbered from `first` to `last` of one lane."""

    folder: Path
    stage: Stage
    lane: Lane
    first: int
    last: int

    @property
    def name(self) -> str:
        """What it is called."""
        return f"{self.stage}-{self.first:017d}-{self.last:017d}{SUFFIXES[self.lane]}"

    @property
    def path(self) -> Path:
        """Where it lies."""
        return self.folder / self.name

    def holds(self, other: ReceivedFile) -> bool:
        """Whether all that is in another file is in this one too."""
        return self != other and self.lane == other.lane and self.first <= other.first and other.last <= self.last


def is_received(name: str) -> bool:
    """Whether a file of the inbox was written by the receiver."""
    return _NAME.fullmatch(name) is not None


def is_unclaimed(name: str) -> bool:
    """Whether a file of the inbox is the receiver's still, which may merge it with others at any moment."""
    stated = _NAME.fullmatch(name)
    return stated is not None and stated[1] == "capture"


def is_otlp(name: str) -> bool:
    """Whether a file of the inbox holds OTLP, which is imported before what comes of it lands."""
    return name.lower().endswith(SUFFIXES["otlp"])


def received_files(inbox: Path) -> list[ReceivedFile]:
    """The receiver's files in the inbox, oldest first. Raises OSError where it cannot be listed."""
    try:
        names = os.listdir(inbox)  # noqa: PTH208 - a thousand names, again and again
    except FileNotFoundError:
        return []
    found = [_parse_received_file(inbox, stated) for name in names if (stated := _NAME.fullmatch(name))]
    return sorted(found, key=lambda one: (one.lane, one.first, -one.last, one.stage))


def _parse_received_file(folder: Path, stated: re.Match[str]) -> ReceivedFile:
    stage: Stage = "capture" if stated[1] == "capture" else "received"
    return ReceivedFile(folder, stage, _LANES[stated[4]], int(stated[2]), int(stated[3]))


def held_elsewhere(files: Iterable[ReceivedFile]) -> list[ReceivedFile]:
    """Of files in the order of `received_files`, those that a larger one holds: a merge was killed before they went."""
    gone: list[ReceivedFile] = []
    largest: ReceivedFile | None = None
    for file in files:
        if largest is not None and largest.holds(file) and file.stage == "capture":
            gone.append(file)
        elif largest is None or largest.lane != file.lane or file.last > largest.last:
            largest = file
    return gone
