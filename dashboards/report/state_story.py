"""What the morning report says of the state of things, as `story.py` does: answers of the cookbook as sentences."""

from __future__ import annotations

import polars as pl

from slowwave.dashboards.words import (
    beside_base_rate,
    interval,
    join_words,
    number_of,
    part,
    project_label,
    quote_text,
    sentence,
    small_part,
    sum_of,
)
from slowwave.flows.kernel.terminal import format_count
from slowwave.flows.kernel.times import utc_text

Sentences = list[str]

_COIN = 0.5
_LATE_HOURS = 24
_MOST_PROJECTS = 6
_NEED = "need_30d, the probability of a reference within 30 days,"
_WEIGHED = (
    "An estimate may differ from the raw counts beside it: recent attempts weigh more, and what is expected before any "
    "attempt comes from comparable ones."
)


def describe_untried(rows: pl.DataFrame, total: int) -> str:
    """What might be tried. `rows`: first of `total` rows of the recipe `untried_strategies`."""
    if rows.is_empty():
        return "No strategy of the project that was not tried here is likely to beat the best tried one."
    first = rows.row(0, named=True)
    where = " / ".join(project_label(first[name]) for name in ("project", "agent", "task_type") if first[name])
    elsewhere = (
        f"elsewhere {first['elsewhere_successes']:,} of {number_of(first['elsewhere_attempts'], 'attempt')} succeeded"
        if first["elsewhere_attempts"]
        else f"other agents succeeded in {first['twin_successes']:,} of {number_of(first['twin_attempts'], 'attempt')}"
    )
    return (
        f"{quote_text(first['strategy'])} was not tried here ({where or 'no project'}); {elsewhere}. "
        "Estimated success of "
        f"a first attempt {part(first['confidence'])}; 90 % credible interval "
        f"{interval(first['confidence_low'], first['confidence_high'])}; the best so far "
        f"has {part(first['best_tried_confidence'])}, and the kind of task alone says {part(first['task_estimate'])}. "
        f"Of what was not tried, {total:,} in all could do better."
    )


def patterns(states: pl.DataFrame) -> Sentences:
    """What became of failing strategies. `states`: rows of `anti_patterns_by_state` by state."""
    if states.is_empty():
        return ["No strategy was ever found to keep failing."]
    words = {
        "dormant": "dormant (not tried lately)",
        "closed": "closed (no longer failing more than others, or now expected to succeed)",
    }
    found = [f"{count:,} {words.get(state, state)}" for state, count in states.select("state", "rows").iter_rows()]
    return [sentence(f"{number_of(sum_of(states), 'anti-pattern')}: {join_words(found)}")]


def need(cutoffs: pl.DataFrame) -> Sentences:
    """Whether need_30d can be believed. `cutoffs`: of the recipe `need_calibration`, newest first."""
    graded = cutoffs.filter(pl.col("skill").is_not_null())
    if graded.is_empty():
        return [f"{_NEED} cannot be graded yet: that needs 30 days after a Monday on which memories were known."]
    row = graded.row(0, named=True)
    told = (
        f"On the {number_of(row['memories_count'], 'forecast')} of {row['cutoff_at']:%Y-%m-%d}, {_NEED} "
        f"{beside_base_rate(row['skill'], row['skill_low'], row['skill_high'])}."
    )
    if row["calibration_error"] is None or row["calibration_error_if_perfect"] is None:
        return [told]
    return [
        told,
        (
            f"Calibration error {small_part(row['calibration_error'])}; a perfect forecaster would score "
            f"{small_part(row['calibration_error_if_perfect'])} on as many memories."
        ),
    ]


def describe_quarantine(reasons: pl.DataFrame) -> Sentences:
    """What was refused. `reasons`: of the recipe `quarantine_reasons`, most rows first."""
    total = sum_of(reasons, "refused")
    if not total:
        return ["No row was ever refused."]
    first = reasons.row(0, named=True)
    is_tied = reasons.height > 1 and reasons["refused"][1] == first["refused"]
    often = "among them" if is_tied else "most often"
    of_first = f"{number_of(first['refused'], 'row')}: {quote_text(first['reason'])}"
    many = number_of(reasons.height, "reason")
    return [f"{number_of(total, 'row was', 'rows were')} refused so far, for {many}; {often}, {of_first}"]


def describe_landed_rows(days: pl.DataFrame) -> Sentences:
    """How rows arrived. `days`: of the recipe `landed_by_day`."""
    if days.is_empty():
        return ["No row has landed yet."]
    rows, late = sum_of(days, "rows_count"), sum_of(days, "late_count")
    told = f"{number_of(rows, 'row is', 'rows are')} in the tables, each in its latest version"
    inferred = sum_of(days, "inferred_count")
    told += f", of them {format_count(inferred, 'inferred outcome')}" if inferred else ""
    after = f"recorded more than {_LATE_HOURS} hours after {'it' if late == 1 else 'they'}"
    return [
        f"{told}; {format_count(late, 'was', 'were')} {after} happened.",
        "There may be more of them than were delivered: an inline `success` makes an outcome of its own.",
    ]


def freshness(rows: pl.DataFrame) -> Sentences:
    """How recent each kind of row is. `rows`: of the recipe `freshness`."""
    newest = rows.group_by("landed_table").agg(pl.col("newest_at").max()).sort("landed_table").drop_nulls()
    if newest.is_empty():
        return []
    return [sentence("newest: " + "; ".join(f"{table} {utc_text(at)}" for table, at in newest.iter_rows()))]


def nights(rows: pl.DataFrame) -> Sentences:
    """How the last runs ended. `rows`: of the recipe `recent_runs`, newest first."""
    failed = rows.filter(pl.col("status").is_in(["failed", "started"])).height
    last = rows.row(0, named=True)
    took = "" if last["seconds"] is None else f" after {last['seconds']:,.1f} s"
    some = f"{failed:,}" if failed else "none"
    ended = f"{last['kind']}, {last['status']}{took}"
    return [f"The run that started last: {ended}. Of the {rows.height:,} shown, {some} failed or did not end."]
