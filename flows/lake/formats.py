"""The format of a lake: which releases can read it, and how an older one is brought up to date.

`FORMAT` holds a number. 1 is the first release's. 2: tables of the lake may have columns `since=2`, and `day_inputs`
says which columns an evidence partition was last found to fit. 3: memories have scope, user_id, category, domain,
source and tags, which stood in `extra`, and eligibility says of which agent and user it is.

A release reads every older format as it is, and refuses newer ones. Whoever writes first brings the lake up to date:
`FORMAT` says `2 from 1` before anything is changed, so that no older release reads what it would not understand, and
`2` when all steps are done. Killed in between, the next writer takes all steps from 1 again: each may be repeated.
Landed rows are never touched: their files are read under today's declaration (`lake.scan_declared`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from slowwave.flows.kernel.settings import LAKE_FORMAT
from slowwave.flows.kernel.store import write_durably
from slowwave.flows.lake.files import LakeFormat, check_format

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
