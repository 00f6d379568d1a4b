"""What the morning report says of a night: from answers of the cookbook to sentences. No number is worked out here.

Each function takes rows of the recipes it names and returns sentences, the one that matters most first. Where nothing
is known it says so, and what would bring it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import polars as pl

from slowwave.dashboards.words import (
    attempts_words,
    change,
    interval,
    join_words,
    number_of,
    part,
    points,
    project_label,
    quote_text,
    sentence,
    sum_of,
)
from slowwave.flows.kernel.terminal import shorten_to_width, terminal_safe
from slowwave.flows.kernel.times import quiet_log_text, span, utc_text
from slowwave.transforms.core.vocabularies import CAUSAL_BASES, FADING_STATES
from slowwave.transforms.lift.lift_sentences import describe_comparison

Sentences = list[str]

_CAUSAL = "a randomised or cutoff lift"
_FRESH = timedelta(hours=36)
_BASE_RATE = "base_rate/1"
_MOST_WARNINGS = 8
_MOST_CHANGES = 4
_EXCERPT_CHARACTERS = 240
_KINDS = {
    "harmful": ("harmful memory", "harmful memories"),
    "ignored": ("ignored instruction", ""),
    "contradiction": ("contradiction", ""),
    "outdated": ("outdated memory", "outdated memories"),
    "expiring": ("expiring memory", "expiring memories"),
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
    "faded": "faded and not known to be needed",
    "untouched": "not touched for long",
    "agent_quota": "over an agent's quota",
    "project_quota": "over a project's quota",
}


def _plural(count: int, one: str, many: str) -> str:
    return one if count == 1 else many


def describe_scope(about: str) -> list[str]:
    """Whose memories the numbers are of; nothing where they are of all."""
    return [f"Memories of {terminal_safe(about)} only; what belongs to nobody is shown whole."] if about else []


@dataclass(frozen=True)
class Answered:
    """A question, what the log answers, and what to record so that it can be answered, or better; '' is nothing."""

    asked: str
    answer: str
    lacks: str


def list_log_answers(rows: pl.DataFrame) -> list[Answered]:
    """What the log can and cannot answer; what several lack is said once. `rows`: of `answerable_questions`."""
    is_said = rows["lacks"].is_first_distinct()
    return [
        Answered(asked, answer, lacks if lacks and is_new else "")
        for (asked, answer, lacks), is_new in zip(
            rows.select("asked", "answer", "lacks").iter_rows(), is_said, strict=True
        )
    ]


def quiet_log(as_of: datetime, newest: pl.DataFrame) -> tuple[str, str]:
    """Return `quiet_log_text` of the newest rows. `newest`: of `freshness`."""
    events = newest.filter(pl.col("landed_table").is_in(["interactions", "outcomes"]))
    return quiet_log_text(as_of, *events.select(pl.col("newest_at", "newest_recorded_at").max()).row(0))


def freshness(run: Mapping[str, Any], newest: pl.DataFrame | None) -> Sentences:
    """How fresh the tables are. `run`: its row of `runs`; `newest`: of `freshness`, None where it is not there."""
    as_of: datetime = run["as_of"]
    said = [f"As of {utc_text(as_of)}."]
    if newest is None:
        return said
    times = newest.filter(pl.col("landed_table") == "interactions")["newest_at"].drop_nulls()
    if times.is_empty():
        return [*said, "No interaction is known."]
    at: datetime = times.max()  # pyright: ignore[reportAssignmentType]
    old = as_of - at
    said.append(f"The newest interaction is of {utc_text(at)}, {span(old)} before.")
    if old > _FRESH:
        said.append("Either nothing happened since, or logs have not arrived.")
    return said


def describe_run(run: Mapping[str, Any]) -> str:
    """Which run it was, and what it took in. `run`: its row of `runs`."""
    ended = f" {utc_text(run['finished_at'])}" if run["finished_at"] else ""
    took = (
        f"; of {number_of(run['delivered'], 'row')} it was given, {run['accepted']:,} were new, "
        f"{run['duplicate']:,} known and {run['quarantined']:,} refused"
        if run["delivered"]
        else "; it landed nothing itself"
    )
    return f"Run {run['run_id']}, {run['status']}{ended}{took}."


def describe_warnings(count: int, shown: int) -> str:
    """How much the audits warned of."""
    rest = f"; the first {shown:,} of them" if shown < count else ""
    return f"{number_of(count, 'warning')}, none of which stopped the publish{rest}."


def warnings(message: str | None) -> tuple[Sentences, int]:
    """What the audits warned of, shortened to the first few, and how many warnings there are."""
    found = [line for line in (message or "").splitlines() if line.strip()]
    return found[:_MOST_WARNINGS], len(found)


def changes(rows: pl.DataFrame, *, is_first: bool) -> Sentences:
    """What changed since the publish before. `rows`: of `what_changed`; `is_first`: there was none before."""
    since = rows["since_at"].drop_nulls()
    if since.is_empty():
        return ["There is nothing to compare: no memory is known yet."]
    first = f"In the 24 hours before this first publish, since {utc_text(since[0])}"
    begin = first if is_first else f"Since {utc_text(since[0])}"
    quiet = f"{begin}," if is_first else begin
    if not sum_of(rows, "count"):
        return [f"{quiet} nothing changed, and no interaction was given a memory."]
    use = rows.filter((pl.col("topic") == "use") & (pl.col("count") > 0))
    others = rows.filter((pl.col("topic") != "use") & (pl.col("count") > 0))
    found = [
        f"{row['what']} ({number_of(row['count'], *_TOPICS.get(row['topic'], (row['topic'], row['topic'])))})"
        for row in others.head(_MOST_CHANGES).to_dicts()
    ]
    told = f"{begin}: {'; '.join(found)}" if found else f"{quiet} no memory, strategy or observation changed"
    rest = others.height - len(found)
    said = [sentence(told + (f"; and {number_of(rest, 'other kind')} of change" if rest > 0 else ""))]
    counts = [f"{row['what']}: {row['count']:,}" for row in use.iter_rows(named=True)]
    return said + ([sentence("; ".join(counts))] if counts else [])


def is_faded() -> pl.Expr:
    """Which rows of `got_worse` say only that no answer used a memory."""
    return pl.col("what").is_in(FADING_STATES) & (pl.col("kind") == "memory")


def worse(counts: pl.DataFrame, days: int) -> Sentences:
    """What got worse, and then what only faded. `counts`: rows of `got_worse` by kind and what, or project too."""
    begin = f"In the last {days} days"
    if not sum_of(counts):
        return [f"{begin} nothing got worse."]
    by_what = counts.group_by("kind", "what", maintain_order=True).agg(pl.col("rows").sum())
    by_what = by_what.sort("rows", descending=True, maintain_order=True)
    is_strategy = pl.col("kind") == "strategy"
    strategies = by_what.filter(is_strategy)
    others, faded = by_what.filter(~is_faded() & ~is_strategy), by_what.filter(is_faded())
    found = [f"{number_of(row['rows'], *_WORSE[row['kind']])}: {row['what']}" for row in others.to_dicts()]
    said = [] if strategies.height else [f"{begin} nothing got worse but that memories faded."]
    if found:
        said = [sentence(f"{begin} {number_of(sum_of(others), 'thing')} got worse: {'; '.join(found)}")]
    said += [
        f"{number_of(row['rows'], 'strategy is', 'strategies are')} {row['what']}, by 28 days beside all before and "
        f"not by these {days}; the day shown is that of the last attempt."
        for row in strategies.to_dicts()
    ]
    if faded.height:
        ends = [f"{count:,} became {what}" for what, count in faded.select("what", "rows").iter_rows()]
        said.append(
            f"{number_of(sum_of(faded), 'memory', 'memories')} faded without a new reference: {join_words(ends)}."
        )
    return said


def reviews(kinds: pl.DataFrame, projects: int) -> Sentences:
    """What needs review. `kinds`: rows of `review_queue` by kind; `projects`: in how many."""
    total = sum_of(kinds)
    if not total:
        return ["Nothing needs review."]
    found = [
        number_of(count, *_KINDS.get(kind, (kind, kind))) for kind, count in kinds.select("kind", "rows").iter_rows()
    ]
    where = f" in {number_of(projects, 'project')}" if projects > 1 else ""
    return [
        sentence(f"{number_of(total, 'item needs', 'items need')} review{where}: {join_words(found)}"),
        "Nothing of it is decided by itself.",
    ]


def both_asked(rows: pl.DataFrame) -> Sentences:
    """How often a language model and the rules say the same (`rows`: model_and_rules); nothing where none answered."""
    answered = rows.filter(pl.col("is_same").is_not_null())
    total, same = sum_of(answered, "changes"), sum_of(answered.filter("is_same"), "changes")
    if not total:
        return []
    asked = number_of(total, "change")
    return [f"A language model has answered about {asked} of memories; the rules say the same of {same:,}."]


def forgettable(rules: pl.DataFrame, quotas: pl.DataFrame, verdicts: int | None = None) -> Sentences:
    """What may be archived.

    `rules`: `forgetting_plan` by rule and is_shadow; `quotas`: of `forgetting_quotas`; `verdicts`: how many active
    memories have the verdict forget, where that is to be distinguished from the plan.
    """
    unmet = quotas.filter(~pl.col("is_met"))
    said = [f"{number_of(unmet.height, 'quota is', 'quotas are')} not met by this plan."] if unmet.height else []
    planned = rules.filter(~pl.col("is_shadow"))
    shadow = sum_of(rules.filter("is_shadow"))
    if planned.is_empty() and not shadow:
        none = "No memory may be archived by the rules of now."
        return [f"{_describe_forget_verdicts(verdicts)}; {none[:1].lower()}{none[1:]}" if verdicts else none, *said]
    found = [f"{count:,} {_RULES.get(rule, rule)}" for rule, count in planned.select("rule", "rows").iter_rows()]
    total = sum_of(planned)
    told = f"{number_of(total, 'memory', 'memories')} may be archived"
    if verdicts is not None:
        told = f"{_describe_forget_verdicts(verdicts)}; the plan of what may be archived holds {total:,}"
    told += f": {join_words(found)}" if found else ""
    kept = f"; {shadow:,} more would stay active, to measure what is regretted" if shadow else ""
    return [sentence(told + kept), "Archiving can be undone, and interactions are never deleted.", *said]


def _describe_forget_verdicts(verdicts: int) -> str:
    return f"{number_of(verdicts, 'memory has', 'memories have')} the verdict forget"


def harms(flags: pl.DataFrame, bases: pl.DataFrame, below: int | None = None) -> Sentences:
    """What lowers success.

    `flags`, `bases`: rows of `helping_and_hurting_memories` by is_harmful and by lift_basis; `below`: how many of all
    have an interval wholly below 0, where that is to be said.
    """
    judged = sum_of(bases.filter(pl.col("lift_basis").is_in(CAUSAL_BASES)))
    total = sum_of(bases)
    harmful = sum_of(flags.filter(pl.col("is_harmful").fill_null(value=False)))
    if not total:
        return [
            (
                "No memory is known to help or harm yet: that needs outcomes of interactions that were given it, and "
                "of like ones that were not."
            )
        ]
    basis = (
        f"{judged:,} of {number_of(total, 'memory', 'memories')} with a lift can be called harmful or not, because "
        "retrieval was randomised or had a cutoff; of the others only an association is known."
    )
    if not judged:
        basis = (
            f"Of {number_of(total, 'memory', 'memories')} only an association with outcomes is known, because "
            "retrieval was not randomised: log `injection_probability` and withhold some to learn more."
        )
    some = f"{below:,}" if below else "none"
    lie = "lies" if below in {0, 1} else "lie"
    limits = "" if below is None else f"{some} of {number_of(total, 'interval')} {lie} wholly below 0"
    if not harmful:
        return [f"No memory is known to lower success{limits and ': '}{limits}.", basis]
    causal = f"{number_of(harmful, 'memory lowers', 'memories lower')} success beyond chance, by {_CAUSAL}"
    return [f"{causal}{limits and '; '}{limits}.", basis]


def harm(row: Mapping[str, Any]) -> str:
    """What is known of a memory that lowers success. `row`: of `helping_and_hurting_memories`."""
    lost = "" if row["lost_successes"] is None else f": {row['lost_successes']:.1f} successes lost to it"
    limits = interval(row["lift_low"], row["lift_high"])
    return f"Lift {part(row['lift'])}, 90 % interval {limits}{lost}. {sentence(describe_comparison(row['lift_basis']))}"


def failing(total: int, fresh: int, days: int) -> Sentences:
    """How many strategies keep failing: rows of `costliest_anti_patterns`, first failed in the last `days` of them."""
    if not total:
        return ["No strategy is known to keep failing more often than comparable ones."]
    new = f", {fresh:,} of them with a first failure in the last {days} days" if fresh else ""
    return [sentence(f"{number_of(total, 'strategy keeps', 'strategies keep')} failing{new}")]


def hard_tasks(total: int) -> Sentences:
    """At how many kinds of task nobody succeeds: rows of `hard_tasks`."""
    if not total:
        return ["No hard task: at every kind of task some strategy may succeed."]
    kinds = number_of(total, "kind of task", "kinds of task")
    return [f"At {kinds} no strategy with enough attempts succeeds: choosing another one does not help."]


def failure(row: Mapping[str, Any]) -> str:
    """Why a strategy is avoided, and what to try instead. `row`: of `costliest_anti_patterns`."""
    better = row["better_alternative"]
    instead = (
        f"Best so far: {quote_text(better)}."
        if better
        else "No other strategy that this agent tried there is known to succeed more often."
    )
    inferred = f" Known of {attempts_words(row['attempts'], row['inferred'])}." if row["inferred"] else ""
    return f"{excerpt(row['why_bad'])}{inferred} {instead}"


def place(*names: str | None) -> str:
    """What and where a thing is, on one line: those names that are said."""
    return " · ".join(project_label(name) for name in names if name)


def excerpt(text: str | None) -> str:
    """The beginning of a text from a log, on one line."""
    return shorten_to_width(terminal_safe(shorten_to_width(text or "", _EXCERPT_CHARACTERS)), _EXCERPT_CHARACTERS)


def of_user(user_id: str | None) -> str:
    """Whose alone a thing is; '' where it is no user's."""
    return f"user {user_id}" if user_id is not None else ""


def sessions(count: int) -> str:
    """In how many sessions; '' where none is known."""
    return number_of(count, "session") if count else ""


def describe_alarms(levels: pl.DataFrame, healths: pl.DataFrame) -> Sentences:
    """What is wrong with which project. `levels`: `alarms` by level; `healths`: `project_health` by health."""
    per = dict(healths.select("health", "rows").iter_rows())
    projects = sum_of(healths)
    if not projects:
        return ["No project has memories yet."]
    unknown = per.get("unknown", 0)
    without = per.get("healthy", 0) + unknown
    some = f"{without:,} of" if without < projects else "any of" if projects > 1 else "the"
    quiet = f"No alarm for {some} {number_of(projects, 'project')} with memories"
    little = f"; of these {unknown:,} {_plural(unknown, 'was', 'were')} hardly used, so that little is known of "
    told = quiet + (little + f"{_plural(unknown, 'it', 'them')}." if unknown else ".")
    total = sum_of(levels)
    if not total:
        return [told]
    found = [f"{count:,} {level}" for level, count in levels.select("level", "rows").iter_rows()]
    return [sentence(f"{number_of(total, 'alarm')}: {join_words(found)}"), told]


def grade(rows: pl.DataFrame) -> Sentences:
    """Whether forecasts of success can be believed. `rows`: of the recipe `calibration`."""
    ours = rows.filter(~pl.col("method").is_in([_BASE_RATE, "laplace/1", "records/1"]))
    graded = {row["metric"]: row for row in ours.iter_rows(named=True) if row["value"] is not None}
    beside = graded.get("brier_minus_laplace")
    if beside is None:
        return ["Forecasts of success cannot be graded yet: that needs attempts in the week after a recent Monday."]
    low, high = beside["value_low"], beside["value_high"]
    rule = "a simple average (Laplace)"
    said = f"cannot be distinguished from {rule}"
    if low is not None and high is not None and (low > 0 or high < 0):
        said = f"are {'better' if high < 0 else 'worse'} than {rule}"
    limits = "" if low is None or high is None else f" (90 % interval {change(low)} to {change(high)})"
    over = f"{number_of(beside['attempts'], 'attempt')} of {number_of(beside['cutoffs'], 'week')}"
    difference = f"Brier score {change(beside['value'])} beside it{limits}, below 0 is better"
    told = [f"On {over} the forecasts of success {said}: {difference}."]
    error, perfect = graded.get("calibration_error"), graded.get("calibration_error_if_perfect")
    if error and perfect:
        trust = "Estimates are rough" if error["value"] > 2 * perfect["value"] else "Estimates are close"
        noise = f"{points(perfect['value'])} would be chance alone"
        told.insert(0, f"{trust}: off by {points(error['value'])} points on average ({noise}).")
    slope = graded.get("calibration_slope")
    if slope and slope["value_high"] is not None and slope["value_high"] < 1:
        told.append(f"They are too sure of themselves (slope {part(slope['value'])}; 1 would be right).")
    return [*told, "This grades the confidence of strategies; that of memories is not graded yet."]
