"""Decisions in the lake: written first and durably; the status changes that follow from them are written after.

Killed between the two, the decisions have no effect, then or later: the command, run again, checks and decides anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import duckdb
import polars as pl

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.terminal import format_count, quote_shortened
from slowwave.flows.kernel.times import utc_now, utc_text
from slowwave.flows.lake.current import current_run
from slowwave.flows.lake.lake import Lake
from slowwave.flows.publish.log_as_of import LogAsOf, effective_decisions
from slowwave.flows.publish.run import Run
from slowwave.transforms.core.hashing import digest
from slowwave.transforms.core.schema import Landed
from slowwave.transforms.core.vocabularies import TargetKind
from slowwave.transforms.decisions.effects import (
    APPLY,
    HOLD,
    RELEASE,
    RESTORE,
    decision_id,
    decision_rows,
    last_hold_decisions,
    status_changes,
    values_json,
)
from slowwave.transforms.decisions.memory_edits import MEMORY_EDITS
from slowwave.transforms.decisions.review.changes import REVIEWS
from slowwave.transforms.landing.decisions_table import Decisions
from slowwave.transforms.landing.set_aside import LEAVE_IN, LEAVE_OUT, last_left_out
from slowwave.transforms.landing.tables import LANDED, Interactions, Memories

# What a person saw before deciding, checked again under the lock: of two who look at once, only one decides.
# A command prints it as `expect` (`--format json`) and takes it back with `--expect`: the id of the last decision on
# the things it is about, and after a point a digest of what it would decide. Without that digest, anything may be
# decided that comes right after that decision: what takes a decision back is given its id alone.

_NONE = "none"
# others, such as a push to a store, say nothing of what a memory is
_DECIDING = (APPLY, RESTORE, HOLD, RELEASE, *MEMORY_EDITS, *REVIEWS)


@dataclass(frozen=True)
class Expectation:
    """The last decision on some things, None where there is none, and a digest of what would be decided of them."""

    last: Mapping[str, Any] | None
    planned: str

    @property
    def token(self) -> str:
        """As it is printed."""
        return f"{self._last_id}.{self.planned}"

    @property
    def _last_id(self) -> str:
        return self.last["decision_id"] if self.last else _NONE

    def check(self, expected: str | None, reasons: Iterable[str] = ()) -> None:
        """Raises UserError where this is not what was `expected`; None: anything is. `reasons`: why it may be so."""
        if expected is None:
            return
        last_id, _, planned = expected.partition(".")
        if last_id != self._last_id and self.last is not None:
            who, when = self.last["changed_by"] or "somebody", utc_text(self.last["decided_at"])
            message = (
                f"{quote_shortened(who)} decided this at {when} (`{self.last['command']}` of "
                f"{quote_shortened(self.last['target'])}): look again (nothing was changed)"
            )
            raise UserError(message)
        if last_id != self._last_id or planned not in ("", self.planned):
            why = "".join(f": {reason}" for reason in reasons)
            message = f"it is not any more as it was shown{why}: look again (nothing was changed)"
            raise UserError(message)


def expectation(decided: pl.LazyFrame, things: Iterable[str], planned: Iterable[str]) -> Expectation:
    """What stands now.

    Args:
        decided: all decisions that took effect.
        things: the targets of those that matter: memories, items, projects.
        planned: what would be decided, in texts.
    """
    targets = pl.Series(sorted({*things}), dtype=pl.String).implode()
    of_things = decided.filter(pl.col("target").is_in(targets), pl.col("command").is_in(_DECIDING))
    last = of_things.sort("decided_at", "decision_id").tail(1).collect().to_dicts()
    return Expectation(last[0] if last else None, digest(planned))


# Whatever has been decided counts for the next decision, also what a clock since set back calls the future.
EVER = datetime.max  # noqa: DTZ901 - times are naive and hold UTC everywhere
PERSON = "person"


def published_frames(settings: Settings, missing: str, **queries: str) -> tuple[str, datetime, dict[str, pl.DataFrame]]:
    """The run that is current, its `as_of`, and what it answers to each query, by its name.

    Raises UserError when nothing is published, or by a version that published `missing`, which lacks a table.
    """
    current = current_run(settings)
    if current is None:
        message = "nothing is published yet: run `slowwave nightly` first"
        raise UserError(message)
    with duckdb.connect(current, read_only=True) as connection:
        ((as_of,),) = connection.sql(
            "SELECT as_of FROM runs WHERE run_id = $id", params={"id": current.stem}
        ).fetchall()
        try:
            frames = {name: connection.sql(query).pl() for name, query in queries.items()}
        except duckdb.CatalogException as error:
            message = f"current was published by a version that {missing}: run `slowwave nightly` first"
            raise UserError(message) from error
    return current.stem, as_of, frames


def landed_decisions(lake: Lake) -> pl.LazyFrame:
    """All decisions ever landed that took effect."""
    rows = lake.scan_rows(Decisions, [file for files in lake.files(Decisions.name).values() for file in files])
    return effective_decisions(lake, rows.collect()).lazy()


def decision(
    command: str,
    target_kind: TargetKind,
    target: str,
    values: Mapping[str, Any],
    kept: Mapping[str, Any],
    **said: Any,  # noqa: ANN401 - columns of decisions
) -> dict[str, Any]:
    """A row of decisions: its id is made of `values`; `kept` is stored beside them. `said` are its other columns."""
    return {
        "decision_id": decision_id(command, target, values, said["on_run_id"]),
        "command": command,
        "target_kind": target_kind,
        "target": target,
        "values": values_json({**kept, **values}),
        **said,
    }


def land_decisions(lake: Lake, decisions: list[dict[str, Any]]) -> pl.DataFrame:
    """Write the decisions whose id is not in the lake, then what follows from them; returns those that are new."""
    known = landed_decisions(lake).select("decision_id").collect()
    fresh = decision_rows(decisions).join(known, on="decision_id", how="anti", maintain_order="left")
    _write_days(lake, Decisions, fresh)
    _write_days(lake, Memories, status_changes(fresh))
    return fresh


def _write_days(lake: Lake, table: type[Landed], rows: pl.DataFrame) -> None:
    by_day = rows.with_columns(pl.col(table.event_time).dt.date().alias("day")).partition_by("day", as_dict=True)
    for day, of_day in sorted((key[0], frame) for key, frame in by_day.items()):
        lake.write_rows(table, day, of_day)
        lake.compact(table, day)


@dataclass(frozen=True)
class HoldOutcome:
    """What became of a project or memory, or would: in a sentence, whether it was on hold, and what to expect next."""

    says: str
    was_held: bool
    is_changed: bool
    expect: str


def decide_hold(
    run: Run,
    command: str,
    target: str,
    kind: TargetKind | None,
    reason: str,
    *,
    by: str = PERSON,
    expect: str | None = None,
    dry_run: bool = False,
) -> HoldOutcome:
    """Hold or release a project or memory, as `by` says.

    Raises UserError when nothing, or both a project and a memory, is called so, when it is not as it is expected to be
    (`expect`), or when the clock is before the last decision on it.
    """
    decided = landed_decisions(run.lake)
    kind = kind or _kind_of(run, target)
    last = (
        last_hold_decisions(decided, EVER)
        .filter(pl.col("target_kind") == kind, pl.col("target") == pl.lit(target))
        .collect()
        .to_dicts()
    )
    before = last[0] if last else None
    named = f"{kind} {quote_shortened(target)}"
    is_held = before is not None and before["command"] == HOLD
    now_stands = expectation(decided, [target], [command, kind, str(is_held)])
    now_stands.check(expect)
    if command == RELEASE and not is_held:
        return HoldOutcome(f"{named} is not held: nothing to release", is_held, False, now_stands.token)
    if before is not None and command == HOLD and is_held and before["reason"] == reason:
        says = f"{named} is held already, since {utc_text(before['decided_at'])}, for this reason"
        return HoldOutcome(says, is_held, False, now_stands.token)
    now = utc_now()
    if before is not None and now <= before["decided_at"]:
        message = (
            f"the last decision on {named} is of {utc_text(before['decided_at'])}, and this machine's clock says "
            f"{utc_text(now)}: set the clock and run this again (nothing was changed)"
        )
        raise UserError(message)
    done = "held" if command == HOLD else "released"
    if dry_run:
        return HoldOutcome(f"{named} would be {done}", is_held, True, now_stands.token)
    current = current_run(run.settings)
    # the decision before it: held, released and held again on one publish are three decisions
    values = {"reason": reason, "after": before["decision_id"] if before else None}
    row = decision(
        command,
        kind,
        target,
        values,
        {},
        reason=reason,
        changed_by=by,
        decided_at=now,
        on_run_id=current.stem if current else None,
    )
    land_decisions(run.lake, [row])
    return HoldOutcome(f"{named} is {done}: seen from the next nightly on", is_held, True, row["decision_id"])


def _kind_of(run: Run, target: str) -> TargetKind:
    log = LogAsOf(run.lake, utc_now(), run.params)
    in_use = log.winners(Interactions, log.files(Interactions), ("project",)).select("project")
    projects = pl.concat([log.states.lazy().select("project"), in_use])
    is_project = projects.filter(pl.col("project") == pl.lit(target)).head(1).collect().height > 0
    is_memory = target in log.states["memory_id"]
    if is_project and is_memory:
        message = f"{quote_shortened(target)} is both a project and a memory: say which with --kind"
        raise UserError(message)
    if not (is_project or is_memory):
        message = (
            f"no project or memory is called {quote_shortened(target)}; say with --kind what it is to "
            "hold it before it comes"
        )
        raise UserError(message)
    return "project" if is_project else "memory"


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
