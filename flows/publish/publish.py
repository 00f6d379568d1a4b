"""One publish: from evidence partitions and memory states to an audited serving file.

Where current was published by the same code and params, its rows of unchanged days are taken over: a day's rows follow
from the day's inputs alone, so one more day costs the day. What is taken over is first checked against its hash.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from slowwave.flows.kernel.code_hash import code_hash
from slowwave.flows.kernel.memory import give_back
from slowwave.flows.kernel.stage_costs import stage_cost
from slowwave.flows.lake.published import current_run
from slowwave.flows.land.quarantine import refused_rows, shown_text, with_texts
from slowwave.flows.publish.chunks import chunks_from
from slowwave.flows.publish.curation import curated_from
from slowwave.flows.publish.health import health_from, history_pieces, timelines_from
from slowwave.flows.publish.learned import learned_from
from slowwave.flows.publish.plan import DayPlan, Plan
from slowwave.flows.publish.run import Run, one_row
from slowwave.flows.publish.serving import Finding, ServingFile, fetched, table_hashes
from slowwave.transforms.core.frames import Frame, framed
from slowwave.transforms.core.schema import Landed, Table
from slowwave.transforms.core.times import epoch_day
from slowwave.transforms.evidence.tables import DayInputs, MemoryReferences, PublishedReferences
from slowwave.transforms.graph import PUBLISHED
from slowwave.transforms.health.memory_health import COUNTS
from slowwave.transforms.health.tables import MemoryHealth, MemoryHealthHistory
from slowwave.transforms.landing.landed_days import landed_days
from slowwave.transforms.landing.ledger_tables import Quarantine, QuarantineResolved, RunFiles, Runs
from slowwave.transforms.landing.set_aside import LEFT_OUT, set_aside
from slowwave.transforms.landing.set_aside_tables import SetAside
from slowwave.transforms.landing.tables import LANDED, Interactions, LandedDays, Memories
from slowwave.transforms.learning.attempts.outcomes import ended_interactions
from slowwave.transforms.learning.learned import Learned
from slowwave.transforms.learning.tables import Scorecard
from slowwave.transforms.usage.strength.tables import FittedStrengths
from slowwave.transforms.usage.timelines import MemoryTimelines
from slowwave.transforms.usage.usage import MemoryUse, all_scores, memory_use

_BY_DAY = (MemoryHealthHistory, PublishedReferences, LandedDays)
# Columns of memory_health, half of what it takes, that neither observations nor the review queue ask for.
_NOT_CURATED = (
    *("eligible_count", "echoed_count", "used_count", "first_referenced_at", "reinforced_confidence"),
    *("contradicted_expected", "confidence_low", "confidence_high", "lift", "lift_low", "lift_high", "lift_basis"),
    *("lift_detectable", "lift_q_value", "lift_note", "is_harmful", "lost_successes", "importance", "is_held"),
    *("half_life_days", "strength", "strength_state", "strength_forecast", "need_if_active", "review_value"),
)
# Days whose landed rows are counted, or whose references are written, together: up to this much of files.
_LANDED_BYTES = 64 * 2**20
_REFERENCES_BYTES = 4 * 2**20
# Counts only grow, so a memory was last touched on the first of the days with the most injections and references.
_ELIGIBLE = """
SELECT
    memory_id,
    eligible_count,
    CASE WHEN touches > 0 THEN last_touch.day END AS touched_day,
    eligible_count - last_touch.eligible_count AS eligible_since_touch
FROM (
    SELECT
        memory_id,
        max(eligible_count) AS eligible_count,
        max(injected_count + reference_count) AS touches,
        arg_max(
            {'day': day - DATE '1970-01-01', 'eligible_count': eligible_count},
            (injected_count + reference_count)::HUGEINT * 10000000 - (day - DATE '1970-01-01')
        ) AS last_touch
    FROM memory_health_history
    GROUP BY memory_id
)
"""
_ELIGIBLE_SCHEMA = {
    "memory_id": pl.String,
    "eligible_count": pl.Int64,
    "touched_day": pl.Int64,
    "eligible_since_touch": pl.Int64,
}


@dataclass(frozen=True)
class Base:
    """An earlier publish to take unchanged rows from: the days whose evidence differs, the first day anything does.

    `landed_days`: by landed table, the days whose winning rows differ.
    """

    path: Path
    evidence_days: list[date]
    first_day: date
    landed_days: dict[str, list[date]]


def publish(run: Run, plan: Plan, built: Sequence[DayPlan], path: Path) -> tuple[Path, list[Finding], dict[str, Any]]:
    """Write and audit a serving file; returns its path, what the audits warned of, and its row of `runs`.

    Raises AuditFailedError when an audit failed, OSError when the disk cannot be written.
    """
    with stage_cost("publish"):
        with stage_cost("fits"):
            timelines = timelines_from(run, plan)
            use = memory_use(timelines, epoch_day(plan.log.as_of), run.params, stage_cost)
        base = _base(run, plan, use.strength_fits)
        with ServingFile(path, base.path if base else None) as serving:
            # what a step alone needs is dropped before the next one
            taught = _write_taught(run, plan, serving, use)
            run.progress("publish", 1, 4)
            _pause(serving)
            if base is None:
                _write_days(run, plan, serving, timelines, use.strength_fits)
            else:
                _write_changed_days(run, plan, serving, base, timelines, use.strength_fits)
            run.progress("publish", 2, 4)
            del timelines
            _pause(serving)
            health = _write_health(run, plan, serving, use, taught)
            ended = ended_interactions(taught.counted_outcomes)
            del use, taught
            _pause(serving)
            _write_curated(run, plan, serving, health, ended)
            del health, ended
            run.progress("publish", 3, 4)
            row, findings = _finished(run, plan, built, serving)
    return path, findings, row


def _pause(serving: ServingFile) -> None:
    """Give back what a step leaves behind: the next one needs the room."""
    serving.rest()
    give_back()


def _write_taught(run: Run, plan: Plan, serving: ServingFile, use: MemoryUse) -> Learned:
    """Write what outcomes teach, and what was fitted for the memories' use."""
    run.progress("publish", 0, 4)
    with stage_cost("fits"):
        taught = learned_from(run, plan)
    give_back()
    graded = all_scores(taught.tables[Scorecard], use.scores)
    serving.replace(_stamped_tables(run, plan, {**taught.tables, **use.tables, Scorecard: graded}))
    return taught


def _write_health(run: Run, plan: Plan, serving: ServingFile, use: MemoryUse, taught: Learned) -> Frame[MemoryHealth]:
    """Write memory_health and what follows from it; returns what curation and review ask of memory_health."""
    with stage_cost("history"):
        eligible = fetched(serving.connection, _ELIGIBLE, _ELIGIBLE_SCHEMA)
    told = health_from(run, plan, taught.attempts, use, eligible)
    serving.replace(_stamped_tables(run, plan, told))
    return framed(MemoryHealth, told[MemoryHealth].drop(_NOT_CURATED), partial=True)


def _write_curated(
    run: Run, plan: Plan, serving: ServingFile, health: Frame[MemoryHealth], ended: pl.DataFrame
) -> None:
    with stage_cost("statements and pairs"):
        curated = curated_from(run, plan, health, ended)
    serving.replace(_stamped_tables(run, plan, curated))


def _finished(
    run: Run, plan: Plan, built: Sequence[DayPlan], serving: ServingFile
) -> tuple[dict[str, Any], list[Finding]]:
    """Write what is told of the run and of rows, audit all, make it durable."""
    aside = set_aside_from(plan)
    serving.replace(_stamped_tables(run, plan, {**chunks_from(plan.log), SetAside: aside}))
    published = "published_incomplete" if _set_aside_said(aside) else "published"
    row = run.ledger_row(
        published if run.kind == "nightly" else "built",
        as_of=plan.log.as_of,
        days_count=len(plan.days),
        days_built_count=len(built),
        input_hash=plan.input_hash,
        table_hashes=serving.hashes(PUBLISHED),
    )
    others = run.lake.ledger(Runs).lazy().filter(pl.col("run_id") != run.run_id)  # there it has only started
    files = run.lake.ledger(RunFiles).lazy()
    serving.replace({Runs: pl.concat([others, one_row(Runs, row).lazy()]), RunFiles: files})
    for table, refused in zip((Quarantine, QuarantineResolved), refused_rows(run.lake), strict=True):
        texts = (rows.lazy().with_columns(shown_text()) for rows in with_texts(run.lake, table, refused))
        serving.replace_by_parts(table, texts)
    with stage_cost("audits"):
        findings = serving.audit()
    told = [*_set_aside_said(aside), *map(str, findings)]
    if told:
        row["message"] = "\n".join(told)
        said = {"message": row["message"], "run_id": run.run_id}
        serving.connection.execute("UPDATE runs SET message = $message WHERE run_id = $run_id", said)
        serving.replace({Runs: pl.concat([others, one_row(Runs, row).lazy()])})
    serving.finish()
    run.progress("publish", 4, 4)
    return row, findings


def set_aside_from(plan: Plan) -> pl.DataFrame:
    """The rows of the table `set_aside`, before they are stamped: versions seen by the publish that count nowhere."""
    rows = [plan.log.set_aside(of).with_columns(table=pl.lit(of.name)) for of in LANDED]
    return set_aside(pl.concat(rows), plan.log.as_of)


def _set_aside_said(aside: pl.DataFrame) -> list[str]:
    """What is said of the rows that fail a check; nothing where none does."""
    failed = aside.filter(pl.col("check") != LEFT_OUT).sort("table", "key", "row_hash", "check")
    if failed.is_empty():
        return []
    count, first = failed["row_hash"].n_unique(), failed.row(0, named=True)
    rows = f"{count} row{'s' * (count != 1)}, such as {first['table']}:{first['key']}: {first['reason']}"
    return [f"set aside, counted nowhere: {rows} (see the table set_aside)"]


def _stamped(run: Run, plan: Plan, rows: pl.LazyFrame) -> pl.LazyFrame:
    return rows.with_columns(
        pl.lit(run.run_id).alias("run_id"), pl.lit(plan.log.as_of, dtype=pl.Datetime("us")).alias("as_of")
    )


def _stamped_tables(
    run: Run, plan: Plan, tables: Mapping[type[Table], pl.DataFrame]
) -> dict[type[Table], pl.LazyFrame]:
    return {table: _stamped(run, plan, rows.lazy()) for table, rows in tables.items()}


def _write_days(
    run: Run, plan: Plan, serving: ServingFile, timelines: MemoryTimelines, strength_fits: Frame[FittedStrengths]
) -> None:
    with stage_cost("history"):
        for piece in history_pieces(run, plan, timelines, strength_fits):
            serving.extend(MemoryHealthHistory, _stamped(run, plan, piece.lazy()))
            give_back()
    _write_references(run, plan, serving, plan.partitions)
    _write_landed_days(run, plan, serving, {table.name: list(plan.log.files(table)) for table in LANDED})


def _write_changed_days(
    run: Run,
    plan: Plan,
    serving: ServingFile,
    base: Base,
    timelines: MemoryTimelines,
    strength_fits: Frame[FittedStrengths],
) -> None:
    with stage_cost("history"):
        first = {"first_day": base.first_day}
        counts = ", ".join(f"max({name}) AS {name}" for name in COUNTS)  # they only grow
        before = fetched(
            serving.connection,
            f"SELECT memory_id, {counts} FROM memory_health_history WHERE day < $first_day GROUP BY memory_id",  # noqa: S608 - declared names
            {"memory_id": pl.String, **dict.fromkeys(COUNTS, pl.Int64)},
            first,
        )
        serving.remove(MemoryHealthHistory, "day >= $first_day", first)
        for piece in history_pieces(run, plan, timelines, strength_fits, before, base.first_day):
            serving.extend(MemoryHealthHistory, _stamped(run, plan, piece.lazy()))
    changed = {day: plan.partitions[day] for day in base.evidence_days if day in plan.partitions}
    serving.remove(PublishedReferences, "list_contains($days, CAST(occurred_at AS DATE))", {"days": base.evidence_days})
    _write_references(run, plan, serving, changed)
    for name, days in base.landed_days.items():
        serving.remove(LandedDays, "landed_table = $name AND list_contains($days, day)", {"name": name, "days": days})
    _write_landed_days(run, plan, serving, base.landed_days)
    for table in _BY_DAY:
        serving.stamp(table, run.run_id, plan.log.as_of)


def _write_references(run: Run, plan: Plan, serving: ServingFile, partitions: Mapping[date, str]) -> None:
    """Add the references of these days, some days at a time: all together are the most rows that a night publishes."""
    sizes = {
        day: run.lake.evidence_path(MemoryReferences, day, partition).stat().st_size
        for day, partition in partitions.items()
    }
    for days in _together(sizes, _REFERENCES_BYTES):
        references = run.lake.scan_evidence(MemoryReferences, {day: partitions[day] for day in days})
        serving.extend(PublishedReferences, _stamped(run, plan, references))


def _together(sizes: Mapping[date, int], most: int) -> Iterator[list[date]]:
    """The days, in order, in groups of at most so many bytes, or of one day."""
    group, held = list[date](), 0
    for day in sorted(sizes):
        if group and held + sizes[day] > most:
            yield group
            group, held = [], 0
        group.append(day)
        held += sizes[day]
    if group:
        yield group


def _write_landed_days(run: Run, plan: Plan, serving: ServingFile, days: Mapping[str, Sequence[date]]) -> None:
    """Add what landed on these days, by landed table."""
    for groups in _days_together(plan, days):
        told = [
            landed_days(
                plan.log.winners(table, of_table, ["project"]).select(
                    pl.lit(table.name).alias("landed_table"),
                    "project",
                    pl.col(table.event_time).alias("occurred_at"),
                    "recorded_at",
                )
            )
            for table, of_table in groups.items()
        ]
        serving.extend(LandedDays, _stamped(run, plan, pl.concat(told)))


def _days_together(plan: Plan, days: Mapping[str, Sequence[date]]) -> Iterator[dict[type[Landed], list[date]]]:
    """The days of each table, in groups of so many that their files hold about `_LANDED_BYTES`."""
    groups, held = dict[type[Landed], list[date]](), 0
    for table in LANDED:
        files = plan.log.files(table)
        for day in days[table.name]:
            size = sum(file.path.stat().st_size for file in files.get(day, []))
            if groups and held + size > _LANDED_BYTES:
                yield groups
                groups, held = {}, 0
            groups.setdefault(table, []).append(day)
            held += size
    if groups:
        yield groups


def _base(run: Run, plan: Plan, strength_fits: pl.DataFrame) -> Base | None:
    """Current, if it was published by this code with these params and half-lives, shares days, and is what it was."""
    current = current_run(run.settings)
    if current is None or plan.full:
        return None
    rows = run.lake.ledger(Runs).filter(
        pl.col("run_id") == current.stem,
        pl.col("params_hash") == run.params.params_hash(),
        pl.col("code_hash") == code_hash(),
    )
    inputs = run.lake.ledger(DayInputs).filter(pl.col("run_id") == current.stem)
    if rows.is_empty() or inputs.is_empty():
        return None
    evidence = _differing_days(inputs, plan.inputs, Interactions.name, "fingerprint")
    changed = [*evidence, *_differing_days(inputs, plan.inputs, Memories.name, "rows_hash")]
    first_day = min(changed, default=date.max)
    if not any(day < first_day for day in plan.partitions):
        return None
    if not _is_intact(current, rows["table_hashes"].item()) or not _fades_alike(current, strength_fits):
        return None
    landed = {table.name: _differing_days(inputs, plan.inputs, table.name, "rows_hash") for table in LANDED}
    return Base(current, evidence, first_day, landed)


def _differing_days(before: pl.DataFrame, now: Sequence[dict[str, Any]], table: str, column: str) -> list[date]:
    was = {row["day"]: row[column] for row in before.filter(pl.col("landed_table") == table).iter_rows(named=True)}
    is_now = {row["day"]: row[column] for row in now if row["landed_table"] == table}
    return sorted(day for day in was.keys() | is_now.keys() if was.get(day) != is_now.get(day))


def _is_intact(path: Path, published: Sequence[str]) -> bool:
    """Whether the tables taken over still hash to what was published."""
    try:
        with duckdb.connect(path, read_only=True) as connection:
            is_now = table_hashes(connection, [table.name for table in _BY_DAY])
            return all(f"{name}={told}" in published for name, told in is_now.items())
    except duckdb.Error:
        return False


def _fades_alike(path: Path, strength_fits: pl.DataFrame) -> bool:
    """Whether the history taken over was told with the half-lives of now."""
    half_lives = strength_fits.select("memory_type", "half_life_days").sort("memory_type")
    with duckdb.connect(path, read_only=True) as connection:
        was = fetched(
            connection,
            f"SELECT memory_type, half_life_days FROM {FittedStrengths.name} ORDER BY memory_type",  # noqa: S608 - a declared name
            half_lives.schema,
        )
    fitted = strength_fits.filter(pl.col("half_life_days") != pl.col("default_half_life_days"))
    changed = was.join(half_lives, on=["memory_type", "half_life_days"], how="anti")
    new = fitted.join(was, on="memory_type", how="anti")  # unfitted, a new type fades as it did where it was before
    return changed.is_empty() and new.is_empty()
