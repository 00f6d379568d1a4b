"""Forgetting: what is planned, archiving it, and bringing it back. Interactions are never touched.

A decision holds the memory's whole state and is durable before the memory log is added to (see `decisions`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

import polars as pl

from slowwave.flows.decide.decisions import (
    EVER,
    decision,
    expectation,
    land_decisions,
    landed_decisions,
    published_frames,
)
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.terminal import quote_shortened
from slowwave.flows.kernel.times import utc_now, utc_text
from slowwave.flows.lake.current import current_run
from slowwave.flows.lake.lake import Lake
from slowwave.flows.lake.run_ledger import partitions_of
from slowwave.flows.nightly.build import build
from slowwave.flows.publish.log_as_of import LogAsOf
from slowwave.flows.publish.plan import BuildPlan
from slowwave.flows.publish.run import Run
from slowwave.transforms.core.vocabularies import FORGETTING_RULES
from slowwave.transforms.decisions.effects import APPLY, FORGET_METHOD, RESTORE, archivings, decision_id, flag_holds
from slowwave.transforms.decisions.forgetting.tables import ForgettingPlan, ForgettingQuotas
from slowwave.transforms.evidence.tables import DayInputs, MemoryDays
from slowwave.transforms.landing.tables import Memories

# Of what a publish states of a memory, all that the memory log says too; `confidence` means something else there.
_COMPARED = tuple(name for name in Memories.state if name not in {"confidence", "status"})


@dataclass(frozen=True)
class PublishedPlan:
    """What current plans to forget, first what should go first; its quotas; and the memories as it shows them."""

    run_id: str
    as_of: datetime
    rows: pl.DataFrame
    quotas: pl.DataFrame
    health: pl.DataFrame

    def select_rows(
        self, project: str | None = None, rule: str | None = None, limit: int | None = None
    ) -> pl.DataFrame:
        """The rows of a project, of a rule, the first few; None: of all."""
        rows = self.rows
        if project is not None:
            rows = rows.filter(pl.col("project") == pl.lit(project))
        if rule is not None:
            rows = rows.filter(pl.col("rule") == pl.lit(rule))
        return rows if limit is None else rows.head(limit)


@dataclass
class Outcome:
    """What became of the memories: ids changed, ids left active in shadow, how many were so already, ids not changed.

    `skipped` and `refused` say why: skipped since something happened to the memory, refused since the clock is wrong.
    `expect`: of a restore, what to expect next.
    """

    command_id: str
    changed: list[str] = field(default_factory=list)
    shadowed: list[str] = field(default_factory=list)
    already: int = 0
    skipped: list[tuple[str, str]] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    expect: str = ""


def published_plan(settings: Settings) -> PublishedPlan:
    """The plan of current.

    Raises UserError when nothing is published, or by a version that published no plan.
    """
    run_id, as_of, found = published_frames(
        settings,
        "planned nothing",
        rows=f"FROM {ForgettingPlan.name}",
        quotas=f"FROM {ForgettingQuotas.name}",
        health="FROM memory_health",
    )
    order = pl.col("rule").replace_strict({rule: at for at, rule in enumerate(FORGETTING_RULES)}, return_dtype=pl.Int64)
    rows = found["rows"].sort(order, "need_30d", "strength", "memory_id", nulls_last=True)
    return PublishedPlan(run_id, as_of, rows, found["quotas"], found["health"])


def _memory_days_partitions(lake: Lake, run_id: str) -> dict[date, str]:
    """The partitions of memory_days that a run was published from."""
    return partitions_of(lake.ledger(DayInputs).filter(pl.col("run_id") == run_id), MemoryDays)


# -------------------------------------------------------------------------------------------------------------- apply


def apply_plan(run: Run, published: PublishedPlan, rows: pl.DataFrame, *, dry_run: bool = False) -> Outcome:
    """Archive the memories in `rows` of a plan, each checked against the log as it is now. The caller holds the lock.

    Raises UserError when another plan has been published meanwhile, or when the clock is before the publish.
    """
    outcome = Outcome(run.run_id)
    current = current_run(run.settings)
    if current is None or current.stem != published.run_id:
        message = "another plan was published meanwhile: look at it, and run this again (nothing was changed)"
        raise UserError(message)
    now = utc_now()
    if now < published.as_of:
        message = (
            f"current shows what was known at {utc_text(published.as_of)}, and this machine's clock says "
            f"{utc_text(now)}: set the clock, or publish as of now (nothing was changed)"
        )
        raise UserError(message)
    decisions: list[dict[str, Any]] = []
    log = LogAsOf(run.lake, now, run.params)
    states = _current_states(log, rows["memory_id"])
    for row in _check_rows(run, log, published, rows, states).iter_rows(named=True):
        memory_id = row["memory_id"]
        if row["is_done"]:
            outcome.already += 1
        elif row["skip"] is not None:
            outcome.skipped.append((memory_id, row["skip"]))
        else:
            (outcome.shadowed if row["is_shadow"] else outcome.changed).append(memory_id)
            state = states.row(row["at"], named=True)
            decisions.append(_archiving(row, state, published, decided_at=now, command_id=run.run_id))
    if not dry_run and decisions:
        land_decisions(run.lake, decisions)
    return outcome


def _archiving(
    row: dict[str, Any], state: dict[str, Any], published: PublishedPlan, *, decided_at: datetime, command_id: str
) -> dict[str, Any]:
    kept = {
        **{name: row[name] for name in ("rule", "need_30d", "strength")},
        "status_before": state["status"],
        "state": {name: state[name] for name in Memories.state},
        "as_of": published.as_of.isoformat(),
        "command_id": command_id,
    }
    said = {"reason": f"{row['rule']}: {row['reason']}", "changed_by": FORGET_METHOD}
    return decision(
        APPLY,
        "memory",
        row["memory_id"],
        _archiving_values(row["is_shadow"]),
        kept,
        decided_at=decided_at,
        on_run_id=published.run_id,
        **said,
    )


def _archiving_values(is_shadow: bool) -> dict[str, Any]:
    return {"status": "archived", "is_shadow": is_shadow}


def _current_states(log: LogAsOf, memory_ids: pl.Series) -> pl.DataFrame:
    """The states that hold now, of some memories."""
    wanted = log.states.join(memory_ids.to_frame(), on="memory_id", how="semi")
    return wanted.filter(pl.col("valid_until").is_null()).sort("memory_id")


def _check_rows(
    run: Run, log: LogAsOf, published: PublishedPlan, rows: pl.DataFrame, states: pl.DataFrame
) -> pl.DataFrame:
    """Rows of the plan with `at` (row in `states`), is_done, and `skip`: why it may not go any more."""
    decided = landed_decisions(run.lake)
    ids = [
        decision_id(APPLY, memory_id, _archiving_values(is_shadow), published.run_id)
        for memory_id, is_shadow in rows.select("memory_id", "is_shadow").iter_rows()
    ]
    compared = [name for name in ("status", *_COMPARED) if name in published.health.columns]
    shown = published.health.select("memory_id", *[pl.col(name).alias(f"{name}_shown") for name in compared])
    now = states.with_row_index("at").select(
        "memory_id", "at", *[pl.col(name).alias(f"{name}_now") for name in {**dict.fromkeys(compared), "pinned": 0}]
    )
    joined = rows.with_columns(pl.Series("decision_id", ids, dtype=pl.String)).join(
        decided.select("decision_id", is_decided=True).collect(), on="decision_id", how="left", maintain_order="left"
    )
    for frame in (
        now,
        shown,
        flag_holds(decided, states.lazy(), EVER).collect(),
        _touched_since(run, log, published, rows["memory_id"]).with_columns(is_touched=True),
    ):
        joined = joined.join(frame, on="memory_id", how="left", maintain_order="left")
    differs = [
        pl.when(pl.col(f"{name}_now").ne_missing(pl.col(f"{name}_shown"))).then(pl.lit(name)) for name in compared
    ]
    is_as_decided = (pl.col("status_now") == "archived") | pl.col("is_shadow")
    return joined.with_columns(
        (pl.col("is_decided") & is_as_decided).fill_null(value=False).alias("is_done"),
        pl.coalesce(
            pl.when(pl.col("at").is_null()).then(pl.lit("no longer in the memory log")),
            pl.when("is_decided").then(pl.lit("archived on this publish and brought back since")),
            pl.when("pinned_now").then(pl.lit("pinned since the publish")),
            pl.when("is_held").then(pl.lit("held since the publish")),
            pl.when("is_touched").then(pl.lit("referenced or injected since the publish")),
            pl.format("its {} changed since the publish", pl.coalesce(differs)),
        ).alias("skip"),
    )


def _touched_since(run: Run, log: LogAsOf, published: PublishedPlan, memory_ids: pl.Series) -> pl.DataFrame:
    """The memories with more references or injections on some day than the publish knew of.

    Days whose evidence would be another now are built.
    """
    before = _memory_days_partitions(run.lake, published.run_id)
    plan = BuildPlan(log, run.lake.ledger(DayInputs))
    now = {day: name for day, name in plan.partitions(MemoryDays).items() if before.get(day) != name}
    plan.days = [day for day in plan.days if day.day in now]
    build(run, plan)
    was = {day: name for day, name in before.items() if day in now}

    def uses(partitions: dict[date, str], name: str) -> pl.LazyFrame:
        return (
            run.lake.scan_evidence(MemoryDays, partitions)
            .join(memory_ids.to_frame().lazy(), on="memory_id", how="semi")
            .select("memory_id", "day", (pl.col("injected_count") + pl.col("reference_count")).alias(name))
        )

    both = uses(now, "now").join(uses(was, "was"), on=["memory_id", "day"], how="left")
    return both.filter(pl.col("now") > pl.col("was").fill_null(0)).select("memory_id").unique().collect()


# ------------------------------------------------------------------------------------------------------------ restore


def restore(
    run: Run,
    memory_ids: Sequence[str] = (),
    *,
    command_id: str | None = None,
    everything: bool = False,
    by: str | None = None,
    reason: str | None = None,
    expect: str | None = None,
    dry_run: bool = False,
) -> Outcome:
    """Give memories that forgetting archived the status they had: these, those of one command, or all.

    `by` and `reason` are kept with the decision; None: forgetting itself says when each was archived.

    The caller holds the lock. Raises UserError when a memory was not archived by forgetting, no command had that id, or
    they are not as they are expected to be (`expect`).
    """
    outcome = Outcome(run.run_id)
    decided = landed_decisions(run.lake).collect()
    archived = archivings(decided.lazy(), EVER).filter(~pl.col("is_shadow")).sort("decided_at", "memory_id")
    latest = archived.unique("memory_id", keep="last", maintain_order=True)
    if everything:
        wanted = latest.filter(pl.col("restored_at").is_null())
    elif command_id is not None:
        wanted = latest.filter(pl.col("command_id") == pl.lit(command_id))
        if command_id not in archived["command_id"]:
            message = f"no `forget apply` has the id {command_id}: `forget apply` prints it, forgetting_audit lists it"
            raise UserError(message)
    else:
        unknown = sorted(set(memory_ids) - set(latest["memory_id"]))
        if unknown:
            some = ", ".join(map(quote_shortened, unknown[:5]))
            message = f"never archived by `forget apply`, so there is nothing to restore: {some}"
            raise UserError(message)
        wanted = latest.filter(pl.col("memory_id").is_in(pl.Series(memory_ids, dtype=pl.String).implode()))
    now = utc_now()
    log = LogAsOf(run.lake, now, run.params)
    current = current_run(run.settings)
    decisions: list[dict[str, Any]] = []
    for row in _restorable(log, wanted).iter_rows(named=True):
        memory_id = row["memory_id"]
        if row["restored_at"] is not None:
            outcome.already += 1
        elif row["decided_at"] >= now:
            outcome.refused.append((memory_id, _clock_says(row["decided_at"], now)))
        elif row["skip"] is not None:
            outcome.skipped.append((memory_id, row["skip"]))
        else:
            outcome.changed.append(memory_id)
            values = {"status": row["status_before"], "archive_id": row["decision_id"]}
            kept = {"status_before": "archived", "command_id": run.run_id}
            why = reason or f"restored: it was archived at {utc_text(row['decided_at'])}"
            on = current.stem if current else None
            said = {"reason": why, "changed_by": by or FORGET_METHOD, "decided_at": now, "on_run_id": on}
            decisions.append(decision(RESTORE, "memory", memory_id, values, kept, **said))
    now_stands = expectation(decided.lazy(), wanted["memory_id"], outcome.changed)
    now_stands.check(expect, [why for _, why in outcome.skipped])
    outcome.expect = now_stands.token
    if decisions and not dry_run:
        land_decisions(run.lake, decisions)
        outcome.expect = max(row["decision_id"] for row in decisions)
    return outcome


def _clock_says(archived_at: datetime, now: datetime) -> str:
    return f"it was archived at {utc_text(archived_at)}, and this machine's clock says {utc_text(now)}: set the clock"


def _restorable(log: LogAsOf, wanted: pl.DataFrame) -> pl.DataFrame:
    """Archivings with `skip`: why the status they made is no longer theirs to take back."""
    stated = (
        log.winners(Memories, log.files(Memories), ("status", "changed_by"))
        .filter(pl.col("status").is_not_null())
        .join(wanted.lazy().select("memory_id"), on="memory_id", how="semi")
        .sort("memory_id", "changed_at")
        .group_by("memory_id", maintain_order=True)
        .agg(pl.col("changed_at", "status", "changed_by").last())
        .collect()
    )
    return (
        wanted.join(stated, on="memory_id", how="left", maintain_order="left")
        .with_columns(
            pl.when(pl.col("changed_at").ne_missing(pl.col("decided_at"))).then(
                pl.format(
                    "its status was set to {} by {} after it was archived",
                    "status",
                    pl.col("changed_by").fill_null("nobody named"),
                )
            ).alias("skip")
        )
    )  # fmt: skip
