"""What the morning report says of the state of things, as `story.py` does: answers of the cookbook as sentences."""

from __future__ import annotations

import polars as pl

from slowwave.dashboards.words import (
    URGENT_FIRST,
    attempts_words,
    beside_base_rate,
    interval,
    listed,
    named,
    not_tried_lately,
    number_of,
    part,
    quoted,
    sentence,
    small_part,
    sum_of,
)
from slowwave.flows.kernel.terminal import counted
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


def memories(rows: pl.DataFrame, states: pl.DataFrame) -> Sentences:
    """How memories are. `rows`: of `memories_by_verdict`; `states`: of `memories_by_state`."""
    active = sum_of(rows, "memories_count")
    told = []
    if not active:
        told.append("No memory is active yet: a memory counts from a change with status active on.")
    else:
        per = dict(rows.group_by("verdict").agg(pl.col("memories_count").sum()).iter_rows())
        found = [f"{per[verdict]:,} {verdict}" for verdict in URGENT_FIRST if per.get(verdict)]
        told.append(f"{number_of(active, 'active memory', 'active memories')}, by verdict: {listed(found)}.")
    other = states.filter(pl.col("status").is_null() | (pl.col("status") != "active"))
    of_status = other.group_by(pl.col("status").fill_null("injected or cited but never landed"), maintain_order=True)
    counts = [f"{count:,} {status}" for status, count in of_status.agg(pl.col("memories_count").sum()).iter_rows()]
    return told + ([sentence(f"Not active: {listed(counts)}")] if counts else [])


def uses(days: pl.DataFrame) -> Sentences:
    """How memories were used, day by day. `days`: of the recipe `references_by_day`."""
    if days.is_empty():
        return ["No interaction was given a memory, and in no answer a use was detected yet."]
    last = days.row(-1, named=True)
    had = number_of(last["injected_interactions"], "interaction was", "interactions were")
    found = number_of(last["referenced_memories"], "memory was", "memories were")
    return [
        (
            f"On {last['day']}, the newest day with evidence, {had} given a memory, and {found} repeated word for word "
            "or used in other words."
        ),
        "Detected uses are a lower bound: no detected use is not proof of none.",
    ]


def confidences(rows: pl.DataFrame, total: int) -> Sentences:
    """How sure the confidence of memories is. `rows`: of `most_confident`; `total`: how many there are in all."""
    if not total:
        return ["No active memory has a confidence yet: that needs attempts that referenced one, and how they ended."]
    above, below = (rows.filter(condition).height for condition in (_is_above(), _is_below()))
    shown = "it" if total == 1 else f"the {rows.height:,} with most evidence"
    first = rows.row(0, named=True)
    return [
        (
            f"{number_of(total, 'active memory has', 'active memories have')} a confidence. Of {shown}, the "
            f"90 % credible interval lies wholly above .50 for {above:,} and wholly below for {below:,}; for the rest "
            "the evidence does not say."
        ),
        (
            f"Most evidence: {part(first['confidence'])} "
            f"({interval(first['confidence_low'], first['confidence_high'])}), "
            f"referenced in {number_of(first['confirmed_count'], 'attempt')} that succeeded and "
            f"{first['contradicted_count']:,} that failed{_expected(first['contradicted_expected'])}: "
            f"{quoted(first['content'])}"
        ),
        (
            "A confidence is no share of successes: it begins at the initial one, and moves by how the uses ended "
            "beyond what was expected."
        ),
    ]


def _is_above() -> pl.Expr:
    return pl.col("confidence_low") > _COIN


def _is_below() -> pl.Expr:
    return pl.col("confidence_high") < _COIN


def _expected(failures: float | None) -> str:
    return "" if failures is None else f" ({failures:.1f} expected)"


def strategies(best: pl.DataFrame, total: int, reliable: pl.DataFrame, trends: pl.DataFrame) -> Sentences:
    """Which strategy to use.

    `best`: of `best_strategies`; `total`: how many there are; `reliable`: by is_reliable; `trends`: of
    `worsening_strategies` by trend.
    """
    if not total:
        return ["No strategy was tried yet: that needs outcomes with a strategy."]
    first = best.row(0, named=True)
    where = " / ".join(named(first[name]) for name in ("project", "agent", "task_type") if first[name])
    sure = sum_of(reliable.filter("is_reliable"))
    attempts = attempts_words(first["attempts"], first["inferred"])
    told = [
        (
            "Of the tried strategies, the one with the highest lower bound is reliable (enough attempts, and a lower "
            f"bound above .50) in {sure:,} of {number_of(total, 'combination')} of project, agent and kind of task; "
            "those where it is one to avoid are left out."
        ),
        (
            f"Highest lower bound of all: {quoted(first['strategy'])} ({where or 'no project'}): estimated success "
            f"{part(first['confidence'])} on the next comparable attempt; 90 % credible interval "
            f"{interval(first['confidence_low'], first['confidence_high'])}; {attempts}."
            f"{not_tried_lately(first['trend'])}"
        ),
    ]
    moves = [f"{count:,} {trend}" for trend, count in trends.select("trend", "rows").iter_rows()]
    if moves:
        told.append(sentence(f"{listed(moves)}, by the last 28 days beside all before"))
    return [*told, _WEIGHED]


def untried(rows: pl.DataFrame, total: int) -> str:
    """What might be tried. `rows`: first of `total` rows of the recipe `untried_strategies`."""
    if rows.is_empty():
        return "No strategy of the project that was not tried here is likely to beat the best tried one."
    first = rows.row(0, named=True)
    where = " / ".join(named(first[name]) for name in ("project", "agent", "task_type") if first[name])
    elsewhere = (
        f"elsewhere {first['elsewhere_successes']:,} of {number_of(first['elsewhere_attempts'], 'attempt')} succeeded"
        if first["elsewhere_attempts"]
        else f"other agents succeeded in {first['twin_successes']:,} of {number_of(first['twin_attempts'], 'attempt')}"
    )
    return (
        f"{quoted(first['strategy'])} was not tried here ({where or 'no project'}); {elsewhere}. Estimated success of "
        f"a first attempt {part(first['confidence'])}; 90 % credible interval "
        f"{interval(first['confidence_low'], first['confidence_high'])}; the tried one with the highest lower bound "
        f"has {part(first['best_tried_confidence'])}, and the kind of task alone says {part(first['task_estimate'])}. "
        f"Of what was not tried, {total:,} in all could do better."
    )


def success(weeks: pl.DataFrame) -> Sentences:
    """How success goes. `weeks`: of the recipe `success_by_week`, newest first."""
    if weeks.is_empty():
        return ["No outcome is known yet."]
    last = weeks["week"][0]
    tried = weeks.filter((pl.col("week") == last) & (pl.col("attempts") > 0))
    apart = _inferred(weeks)
    if tried.is_empty():
        return [f"No attempt was reported in the newest week with outcomes, that of {last}.", *apart]
    found = [
        f"{named(row['project'])} {part(row['success_rate'])} of {number_of(row['attempts'], 'attempt')}"
        for row in tried.sort(-pl.col("attempts"), "project").head(_MOST_PROJECTS).iter_rows(named=True)
    ]
    more = tried.height - len(found)
    found += [f"{number_of(more, 'project')} more"] if more else []
    return [sentence(f"In the newest week with outcomes, that of {last}: {'; '.join(found)}"), *apart]


def _inferred(weeks: pl.DataFrame) -> Sentences:
    """What of all weeks was inferred and not reported; nothing where nothing was."""
    inferred, apart = sum_of(weeks, "inferred"), sum_of(weeks, "apart")
    said = []
    if inferred:
        said.append(f"Of all attempts so far {counted(inferred, 'was', 'were')} inferred, not reported.")
    if apart:
        succeeded = round(float((weeks["apart"] * weeks["apart_rate"]).sum()))
        said.append(
            f"{number_of(apart, 'more attempt was', 'more attempts were')} inferred, {succeeded:,} of them successful: "
            "nothing is learned from these."
        )
    return [sentence(each) for each in said]


def patterns(states: pl.DataFrame) -> Sentences:
    """What became of failing strategies. `states`: rows of `anti_patterns_by_state` by state."""
    if states.is_empty():
        return ["No strategy was ever found to keep failing."]
    words = {
        "dormant": "dormant (not tried lately)",
        "closed": "closed (no longer failing more than others, or now expected to succeed)",
    }
    found = [f"{count:,} {words.get(state, state)}" for state, count in states.select("state", "rows").iter_rows()]
    return [sentence(f"{number_of(sum_of(states), 'anti-pattern')}: {listed(found)}")]


def fading(days: pl.DataFrame) -> Sentences:
    """How many memories fade. `days`: of the recipe `decay_forecast`, its first row the day of the publish."""
    active = int(days["active_count"][0] or 0) if days.height else 0
    if not active:
        return ["No memory is active, so none fades."]
    faded, cumulative = days["fading_count"][0], days["cumulative_count"][-1]
    gone = f"{faded:,} {'has' if faded == 1 else 'have'} faded"
    undated = int(days["undated_count"][0] or 0)
    told = [f"Of {number_of(active, 'active memory', 'active memories')}, {gone}."]
    if faded + undated < active:
        of_dated = "of those whose day is known, " if undated else ""
        soon = f"{of_dated}{cumulative - faded:,} more will fade within {number_of(days.height - 1, 'day')}"
        told.append(sentence(f"{soon} if nothing refers to them"))
    if undated:
        told.append(
            f"When {counted(undated, 'more memory fades', 'more memories fade')} is not known: the log has watched "
            "no memory of their type without a reference for nearly so long."
        )
    return [*told, "Only use counts: a reference lifts a memory again."]


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


def refused(reasons: pl.DataFrame) -> Sentences:
    """What was refused. `reasons`: of the recipe `quarantine_reasons`, most rows first."""
    total = sum_of(reasons, "refused")
    if not total:
        return ["No row was ever refused."]
    first = reasons.row(0, named=True)
    is_tied = reasons.height > 1 and reasons["refused"][1] == first["refused"]
    often = "among them" if is_tied else "most often"
    of_first = f"{number_of(first['refused'], 'row')}: {quoted(first['reason'])}"
    many = number_of(reasons.height, "reason")
    return [f"{number_of(total, 'row was', 'rows were')} refused so far, for {many}; {often}, {of_first}"]


def landed(days: pl.DataFrame) -> Sentences:
    """How rows arrived. `days`: of the recipe `landed_by_day`."""
    if days.is_empty():
        return ["No row has landed yet."]
    rows, late = sum_of(days, "rows_count"), sum_of(days, "late_count")
    told = f"{number_of(rows, 'row is', 'rows are')} in the tables, each in its latest version"
    inferred = sum_of(days, "inferred_count")
    told += f", of them {counted(inferred, 'inferred outcome')}" if inferred else ""
    after = f"recorded more than {_LATE_HOURS} hours after {'it' if late == 1 else 'they'}"
    return [
        f"{told}; {counted(late, 'was', 'were')} {after} happened.",
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
