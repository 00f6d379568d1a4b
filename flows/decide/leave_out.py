"""`slowwave nightly --leave-out TABLE:KEY`: a row that people decide not to count, and `--leave-in`, which undoes it.

For a night that one row stops. The decision names the versions of that key which have landed; one that lands later,
mended, counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import polars as pl

from slowwave.flows.decide.decisions import PERSON, decision, land_decisions, landed_decisions
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.run_ids import utc_now
from slowwave.flows.kernel.terminal import format_count, quote_shortened
from slowwave.flows.kernel.times import utc_text
from slowwave.flows.lake.lake import Lake
from slowwave.transforms.core.schema import Landed
from slowwave.transforms.landing.set_aside import LEAVE_IN, LEAVE_OUT, last_left_out
from slowwave.transforms.landing.tables import LANDED


def decide_rows(lake: Lake, leave_out: Sequence[str], leave_in: Sequence[str]) -> list[str]:
    """Leave rows out, or in again; returns what became of each, in a sentence.

    Raises UserError where a row is not named as TABLE:KEY or was never landed, is to be left both out and in, or when
    the clock is before the last decision on it; nothing is decided then.
    """
    both = sorted({*leave_out} & {*leave_in})
    if both:
        message = (
            f"{quote_shortened(both[0])} cannot be left out and left in at once: name it once (nothing was changed)"
        )
        raise UserError(message)
    now = utc_now()
    last = {row["target"]: row for row in last_left_out(landed_decisions(lake).collect()).to_dicts()}
    decided: list[dict[str, Any]] = []
    told: list[str] = []
    for command, targets in ((LEAVE_OUT, leave_out), (LEAVE_IN, leave_in)):
        for target in dict.fromkeys(targets):
            rows = _rows(lake, target)
            row, said = _make_decision(command, target, rows, last.get(target), now)
            told.append(said)
            decided += [row] if row else []
    land_decisions(lake, decided)
    return told


def _make_decision(
    command: str, target: str, rows: list[dict[str, str]], before: dict[str, Any] | None, now: datetime
) -> tuple[dict[str, Any] | None, str]:
    """The decision, None where it changes nothing, and a sentence."""
    is_out = before is not None and before["command"] == LEAVE_OUT
    if before is not None and now <= before["decided_at"]:
        message = (
            f"the last decision on {quote_shortened(target)} is of {utc_text(before['decided_at'])}, and this "
            "machine's clock "
            f"says {utc_text(now)}: set the clock and run this again (nothing was changed)"
        )
        raise UserError(message)
    if command == LEAVE_IN and not is_out:
        return None, f"{target} is not left out: it counts already"
    values = {"rows": rows if command == LEAVE_OUT else [], "after": before["decision_id"] if before else None}
    row = decision(command, "row", target, values, {}, reason=None, changed_by=PERSON, decided_at=now, on_run_id=None)
    left = f"left out ({format_count(len(rows), 'version')})"
    return row, f"{target} is {left}" if command == LEAVE_OUT else f"{target} counts again"


def _rows(lake: Lake, target: str) -> list[dict[str, str]]:
    """The landed versions that TABLE:KEY names: row_hash and their times."""
    name, _, key = target.partition(":")
    table = next((table for table in LANDED if table.name == name), None)
    if table is None or not key:
        message = (
            f"{quote_shortened(target)} names no row: use TABLE:KEY, TABLE one of {', '.join(t.name for t in LANDED)}"
        )
        raise UserError(message)
    found = _versions(lake, table, key)
    if found.is_empty():
        message = f"no row of {name} with the {table.key[0]} {quote_shortened(key)} has landed"
        raise UserError(message)
    return found.to_dicts()


def _versions(lake: Lake, table: type[Landed], key: str) -> pl.DataFrame:
    files = [file for of_day in lake.files(table.name).values() for file in of_day]
    rows = lake.scan_rows(table, files).filter(pl.col(table.key[0]) == pl.lit(key))
    times = pl.col(table.event_time).alias("happened_at"), pl.col("recorded_at")
    return rows.select("row_hash", *(time.dt.to_string("iso:strict") for time in times)).sort("row_hash").collect()
