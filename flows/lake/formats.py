"""The format of a lake: which releases can read it, and how an older one is brought up to date.

`FORMAT` holds a number (see `lake_format`).

A release reads every older format as it is, and refuses newer ones. Whoever writes first brings the lake up to date:
`FORMAT` says `2 from 1` before anything is changed, so that no older release reads what it would not understand, and
`2` when all steps are done. Killed in between, the next writer takes all steps from 1 again: each may be repeated.
Landed rows are never touched: their files are read under today's declaration (`lake.scan_declared`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from slowwave.flows.kernel.store import write_durably
from slowwave.flows.lake.files import LakeFormat, check_format
from slowwave.flows.lake.lake_format import LAKE_FORMAT

# What leads from the format before to this one, given the lake's folder. Formats 2 and 3 need nothing but their mark.
STEPS: Mapping[int, Callable[[Path], None]] = {}


def bring_up_to_date(root: Path) -> None:
    """Mark a new lake with today's format, and take an older one there. The caller holds the writer lock.

    Raises UserError when the lake was written by a newer version.
    """
    found = check_format(root)
    if found == LakeFormat(LAKE_FORMAT, LAKE_FORMAT):
        return
    if found is not None:
        _mark(root, f"{LAKE_FORMAT} from {found.since}")
        for number in range(found.since + 1, LAKE_FORMAT + 1):
            if number in STEPS:
                STEPS[number](root)
    _mark(root, str(LAKE_FORMAT))


def _mark(root: Path, text: str) -> None:
    write_durably(root / "FORMAT", lambda aside: aside.write_bytes(f"{text}\n".encode()))
