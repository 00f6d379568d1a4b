"""The format of a lake: which releases can read it, and how an older one is brought up to date.

`FORMAT` holds a number (see `lake_format`).

A release reads every older format as it is, and refuses newer ones. Whoever writes first brings the lake up to date:
`FORMAT` says `2 from 1` before anything is changed, so that no older release reads what it would not understand, and
`2` when all steps are done. What is of lakes alone out of which something was taken, a lake is marked with before that.
Killed in between, the next writer takes all steps from 1 again: each may be repeated.
Landed rows are never touched: their files are read under today's declaration (`lake.scan_declared`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from slowwave.flows.kernel.storage.storage import storage_of
from slowwave.flows.kernel.store import write_durably
from slowwave.flows.lake.files import LAKE_FORMAT, WHOLE_FORMAT, check_format
from slowwave.flows.lake.lifetime.horizons import read_horizon
from slowwave.flows.lake.lifetime.tombstones import FOLDER as ERASED

# What leads from the format before to this one, given the lake's folder. Formats 2 and 3 need nothing but their mark.
STEPS: Mapping[int, Callable[[Path], None]] = {}


def bring_up_to_date(root: Path) -> None:
    """Mark a new lake with today's format, and take an older one there. The caller holds the writer lock.

    Raises UserError when the lake was written by a newer version.
    """
    found = check_format(root)
    wanted = LAKE_FORMAT if _is_taken_from(root) else WHOLE_FORMAT
    if found is not None and found.number == found.since >= wanted:
        return
    if found is not None:
        wanted = max(wanted, found.number)
        _mark(root, f"{wanted} from {found.since}")
        for number in range(found.since + 1, wanted + 1):
            if number in STEPS:
                STEPS[number](root)
    _mark(root, str(wanted))


def mark_taken_from(root: Path) -> None:
    """Before anything is taken out of a lake for good: from here on earlier releases refuse it.

    Raises OSError as the disk does.
    """
    found = check_format(root)
    if found is None or found.number < LAKE_FORMAT:
        _mark(root, str(LAKE_FORMAT))


def _is_taken_from(root: Path) -> bool:
    return bool(storage_of(root).files(root / ERASED)) or read_horizon(root, "texts") is not None


def _mark(root: Path, text: str) -> None:
    write_durably(root / "FORMAT", lambda aside: aside.write_bytes(f"{text}\n".encode()))
