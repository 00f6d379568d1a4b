"""What the morning report says of a night: from answers of the cookbook to sentences. No number is worked out here.

Each function takes rows of the recipes it names and returns sentences, the one that matters most first. Where nothing
is known it says so, and what would bring it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import polars as pl

from slowwave.dashboards.words import (
    change,
    counted,
    interval,
    listed,
    moment,
    named,
    part,
    quoted,
    sentence,
    span,
    sum_of,
)
from slowwave.flows.terminal import shortened, terminal_safe

Sentences = list[str]

_FRESH = timedelta(hours=36)
_MOST_WARNINGS = 8
_MOST_CHANGES = 4
_EXCERPT_CHARACTERS = 240
_KINDS = {
    "harmful": ("memory that lowers success", "memories that lower success"),
    "contradiction": ("contradiction", ""),
    "outdated": ("outdated memory", "outdated memories"),
    "candidate": ("candidate", ""),
    "merge": ("merge", ""),
    "doubtful": ("doubtful memory", "doubtful memories"),
    "fading": ("fading memory", "fading memories"),
    "unused": ("memory without detected use", "memories without detected use"),
}
_TOPICS = {
    "memories": ("memory", "memories"),
    "strategies": ("strategy", "strategies"),
    "anti-patterns": ("anti-pattern", ""),
    "observations": ("observation", ""),
    "review": ("item", ""),
    "decisions": ("decision", ""),
    "curation": ("memory", "memories"),
}
_WORSE = {
    "memory": ("memory", "memories"),
    "strategy": ("strategy", "strategies"),
    "anti-pattern": ("anti-pattern", ""),
}
_RULES = {
    "superseded": "superseded by another",
    "invalid": "said to be invalid",
    "low_confidence": "low confidence",
    "faded": "faded and unlikely to be needed",
    "untouched": "not touched for long",
    "agent_quota": "over an agent's quota",
    "project_quota": "over a project's quota",
}


@dataclass(frozen=True)
class ToDo:
    """Something to act on: how much of it, of what, and where the report says more."""

    count: int
    words: str
    anchor: str


def to_dos(
    *, waiting: int, planned: int, harmful: int, failing: int, alarms: int, unmet_quotas: int, warnings: int
) -> list[ToDo]:
    """What a person should act on this morning; [] when there is nothing."""
    found = [
        ToDo(harmful, _plural(harmful, "memory lowers success", "memories lower success"), "harmful"),
        ToDo(failing, _plural(failing, "strategy keeps failing", "strategies keep failing"), "failing"),
        ToDo(alarms, _plural(alarms, "alarm of a project", "alarms of projects"), "alarms"),
        ToDo(waiting, _plural(waiting, "item waits for review", "items wait for review"), "review"),
        ToDo(planned, _plural(planned, "memory may be archived", "memories may be archived"), "forget"),
        ToDo(unmet_quotas, _plural(unmet_quotas, "quota is not met", "quotas are not met"), "forget"),
        ToDo(warnings, _plural(warnings, "warning of the audits", "warnings of the audits"), "warnings"),
    ]
    return [each for each in found if each.count]


def _plural(count: int, one: str, many: str) -> str:
    return one if count == 1 else many


def headline(found: Sequence[ToDo], memories: int) -> str:
    """The report in a sentence."""
    if not found and not memories:
        return "No memory is known yet: land memories and interactions, then the next night has something to tell."
    if not found:
        return "Nothing to act on this morning."
    return sentence(listed([f"{each.count:,} {each.words}" for each in found]))


def freshness(run: Mapping[str, Any], newest: pl.DataFrame | None) -> Sentences:
    """How fresh the tables are. `run`: its row of `runs`; `newest`: of `freshness`, None where it is not there."""
    as_of: datetime = run["as_of"]
    said = [f"Shows what was known before {moment(as_of)}."]
    if newest is None:
        return said
    times = newest.filter(pl.col("landed_table") == "interactions")["newest_at"].drop_nulls()
    if times.is_empty():
        return [*said, "No interaction is known."]
    at: datetime = times.max()  # pyright: ignore[reportAssignmentType]
    old = as_of - at
    said.append(f"The newest interaction is of {moment(at)}, {span(old)} before.")
    if old > _FRESH:
        said.append("Either nothing happened since, or logs have not arrived.")
    return said


def published(run: Mapping[str, Any]) -> str:
    """Which run it was, and what it took in. `run`: its row of `runs`."""
    ended = f" {moment(run['finished_at'])}" if run["finished_at"] else ""
    took = (
        f"; of {counted(run['delivered'], 'row')} it was given, {run['accepted']:,} were new, "
        f"{run['duplicate']:,} known and {run['quarantined']:,} refused"
        if run["delivered"]
        else "; it landed nothing itself"
    )
    return f"Run {run['run_id']}, {run['status']}{ended}{took}."


def warned(count: int, shown: int) -> str:
    """How much the audits warned of."""
    rest = f"; the first {shown:,} of them" if shown < count else ""
    return f"{counted(count, 'warning')}, none of which stopped the publish{rest}."


def warnings(message: str | None) -> tuple[Sentences, int]:
    """What the audits warned of, shortened to the first few, and how many warnings there are."""
    found = [line for line in (message or "").splitlines() if line.strip()]
    return found[:_MOST_WARNINGS], len(found)


def changes(rows: pl.DataFrame, *, is_first: bool) -> Sentences:
    """What changed since the publish before. `rows`: of `what_changed`; `is_first`: there was none before."""
    since = rows["since_at"].drop_nulls()
    if since.is_empty():
        return ["There is nothing to compare: no memory is known yet."]
    begin = f"{'In the 24 hours before this first publish, since' if is_first else 'Since'} {moment(since[0])}"
    if not sum_of(rows, "count"):
        return [f"{begin} nothing changed, and no interaction was given a memory."]
    use = rows.filter((pl.col("topic") == "use") & (pl.col("count") > 0))
    others = rows.filter((pl.col("topic") != "use") & (pl.col("count") > 0))
    found = [
        f"{row['what']} ({counted(row['count'], *_TOPICS.get(row['topic'], (row['topic'], row['topic'])))})"
        for row in others.head(_MOST_CHANGES).to_dicts()
    ]
    told = f"{begin}: {'; '.join(found)}" if found else f"{begin} no memory, strategy or observation changed"
    rest = others.height - len(found)
    said = [sentence(told + (f"; and {counted(rest, 'other kind')} of change" if rest > 0 else ""))]
    counts = [f"{row['what']}: {row['count']:,}" for row in use.iter_rows(named=True)]
    return said + ([sentence("; ".join(counts))] if counts else [])


def worse(counts: pl.DataFrame, days: int) -> Sentences:
    """What got worse. `counts`: how many rows of `got_worse` have which kind and what."""
    begin = f"In the {days} days before the publish"
    total = sum_of(counts)
    if not total:
        return [f"{begin} nothing got worse."]
    found = [f"{counted(row['rows'], *_WORSE[row['kind']])}: {row['what']}" for row in counts.to_dicts()]
    return [sentence(f"{begin} {counted(total, 'thing')} got worse: {'; '.join(found)}")]


def reviews(kinds: pl.DataFrame, projects: int) -> Sentences:
    """What waits for a person. `kinds`: rows of `review_queue` by kind; `projects`: in how many."""
    total = sum_of(kinds)
    if not total:
        return ["Nothing waits for a person's word."]
    found = [
        counted(count, *_KINDS.get(kind, (kind, kind))) for kind, count in kinds.select("kind", "rows").iter_rows()
    ]
    where = f" in {counted(projects, 'project')}" if projects > 1 else ""
    return [
        sentence(f"{counted(total, 'item waits', 'items wait')} for a person's word{where}: {listed(found)}"),
        "Nothing of it is decided by itself.",
    ]


def forgettable(rules: pl.DataFrame, quotas: pl.DataFrame) -> Sentences:
    """What may be archived. `rules`: `forgetting_plan` by rule and is_shadow; `quotas`: of `forgetting_quotas`."""
    unmet = quotas.filter(~pl.col("is_met"))
    said = [f"{counted(unmet.height, 'quota is', 'quotas are')} not met by this plan."] if unmet.height else []
    planned = rules.filter(~pl.col("is_shadow"))
    shadow = sum_of(rules.filter("is_shadow"))
    if planned.is_empty() and not shadow:
        return ["No memory may be archived by the rules of now.", *said]
    found = [f"{count:,} {_RULES.get(rule, rule)}" for rule, count in planned.select("rule", "rows").iter_rows()]
    total = sum_of(planned)
    told = f"{counted(total, 'memory', 'memories')} may be archived" + (f": {listed(found)}" if found else "")
    kept = f"; {shadow:,} more would stay active, to measure what is regretted" if shadow else ""
    return [sentence(told + kept), "Archiving can be undone, and interactions are never deleted.", *said]


def harms(flags: pl.DataFrame, bases: pl.DataFrame) -> Sentences:
    """What lowers success. `flags`, `bases`: rows of `helping_and_hurting_memories` by is_harmful and by lift_basis."""
    judged = sum_of(bases.filter(pl.col("lift_basis").is_in(["randomised", "cutoff"])))
    total = sum_of(bases)
    harmful = sum_of(flags.filter(pl.col("is_harmful").fill_null(value=False)))
    if not total:
        return ["No memory can be judged by outcomes yet: that needs outcomes of interactions with and without it."]
    basis = (
        f"{judged:,} of {counted(total, 'memory', 'memories')} with a lift can be called harmful or not, because "
        "retrieval was randomised or had a cutoff; of the others only an association is known."
    )
    if not judged:
        basis = (
            f"Of {counted(total, 'memory', 'memories')} only an association with outcomes is known, because retrieval "
            "was not randomised: log `injection_probability` and withhold some to learn more."
        )
    if not harmful:
        return ["No memory is known to lower success.", basis]
    return [f"{counted(harmful, 'memory lowers', 'memories lower')} success beyond chance.", basis]


def harm(row: Mapping[str, Any]) -> str:
    """What is known of a memory that lowers success. `row`: of `helping_and_hurting_memories`."""
    lost = "" if row["lost_successes"] is None else f"; {row['lost_successes']:.1f} successes lost to it"
    limits = interval(row["lift_low"], row["lift_high"])
    return f"Lift {part(row['lift'])}, 90 % interval {limits}; {row['lift_basis']}{lost}."


def failing(total: int, fresh: int, days: int) -> Sentences:
    """How many strategies keep failing: rows of `costliest_anti_patterns`, first failed in the last `days` of them."""
    if not total:
        return ["No strategy is known to keep failing where comparable attempts succeed."]
    new = f", {fresh:,} of them with a first failure in the last {days} days" if fresh else ""
    return [sentence(f"{counted(total, 'strategy keeps', 'strategies keep')} failing{new}")]


def failure(row: Mapping[str, Any]) -> str:
    """Why a strategy is avoided, and what to try instead. `row`: of `costliest_anti_patterns`."""
    better = row["better_alternative"]
    instead = (
        f"Surely better among tried strategies: {quoted(better)}." if better else "No tried strategy is surely better."
    )
    return f"{excerpt(row['why_bad'])} {instead}"


def place(*names: str | None) -> str:
    """What and where a thing is, on one line: those names that are said."""
    return " · ".join(named(name) for name in names if name)


def excerpt(text: str | None) -> str:
    """The beginning of a text from a log, on one line."""
    return shortened(terminal_safe(shortened(text or "", _EXCERPT_CHARACTERS)), _EXCERPT_CHARACTERS)


def sessions(count: int) -> str:
    """In how many sessions; '' where none is known."""
    return counted(count, "session") if count else ""


def alarmed(levels: pl.DataFrame, statuses: pl.DataFrame) -> Sentences:
    """What is wrong with which project. `levels`: `alarms` by level; `statuses`: `project_health` by status."""
    health = [f"{count:,} {status}" for status, count in statuses.select("status", "rows").iter_rows()]
    projects = sum_of(statuses)
    if not projects:
        return ["No project is known yet."]
    told = f"Of {counted(projects, 'project')}, {listed(health)}; unknown are those that were hardly used."
    total = sum_of(levels)
    if not total:
        return ["No project has an alarm.", told]
    found = [f"{count:,} {level}" for level, count in levels.select("level", "rows").iter_rows()]
    return [sentence(f"{counted(total, 'alarm')}: {listed(found)}"), told]


def grade(rows: pl.DataFrame) -> Sentences:
    """Whether forecasts of success can be believed. `rows`: of the recipe `calibration`."""
    ours = rows.filter(~pl.col("method").is_in(["base_rate/1", "laplace/1"]))
    graded = {row["metric"]: row for row in ours.iter_rows(named=True) if row["value"] is not None}
    beside = graded.get("brier_minus_laplace")
    if beside is None:
        return ["The forecasts of success cannot be graded yet: that needs a week of outcomes after a Monday."]
    low, high = beside["value_low"], beside["value_high"]
    rule = "(successes + 1) / (attempts + 2)"
    said = f"cannot be told apart from {rule}"
    if low is not None and high is not None and (low > 0 or high < 0):
        said = f"are {'better' if high < 0 else 'worse'} than {rule}"
    limits = "" if low is None or high is None else f" (90 % interval {change(low)} to {change(high)})"
    over = f"{counted(beside['attempts'], 'attempt')} of {counted(beside['cutoffs'], 'week')}"
    difference = f"Brier score {change(beside['value'])} beside it{limits}, below 0 is better"
    told = [f"On {over} the forecasts of success {said}: {difference}."]
    error, perfect = graded.get("calibration_error"), graded.get("calibration_error_if_perfect")
    if error and perfect:
        ideal = f"a perfect forecaster would score {part(perfect['value'])} on as many attempts"
        told.append(f"Calibration error {part(error['value'])}; {ideal}.")
    slope = graded.get("calibration_slope")
    if slope and slope["value_high"] is not None and slope["value_high"] < 1:
        told.append(f"They are too sure of themselves (slope {part(slope['value'])}; 1 would be right).")
    return told
