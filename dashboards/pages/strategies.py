"""The page of strategies: which to use for a kind of task, which got worse, which keep failing, with which errors."""

from __future__ import annotations

import polars as pl
import streamlit as st

from slowwave.dashboards import charts, state_story, story
from slowwave.dashboards.answers import ALL, Answers
from slowwave.dashboards.html_table import Row
from slowwave.dashboards.links import FIRST_PAGE, project_view, view
from slowwave.dashboards.published import Published
from slowwave.dashboards.widgets import (
    Figure,
    address,
    asked,
    choice,
    command,
    drawn,
    figures,
    page_number,
    pattern,
    project_choice,
    said,
    section,
    table,
    told,
)
from slowwave.dashboards.words import counted, interval, named, part, quoted
from slowwave.flows.terminal import shortened, terminal_safe

_MOST_STRATEGIES = 100_000
_ROWS = 20
_MOST_PATTERNS = 100
_LABEL_CHARACTERS = 60
_TOLD_PATTERNS = 3


def strategies_page(published: Published) -> None:
    """Draw the page."""
    st.title("Strategies and anti-patterns", anchor=False)
    with published.answers() as answers:
        known = answers.rows("strategies", _MOST_STRATEGIES)
        columns = st.columns(3)
        with columns[0]:
            project = project_choice(_by_frequency(known, "project"))
        of_project = known if project is None else known.filter(pl.col("project") == project)
        with columns[1]:
            agent = choice("Agent", "agent", _by_frequency(of_project, "agent"), unchosen="All agents", shown=_label)
        with columns[2]:
            kinds = _by_frequency(of_project, "task_type")
            task_type = choice("Kind of task", "task_type", kinds, unchosen="All kinds of task", shown=_label)
        chosen = _chosen(of_project, agent, task_type)
        _one(answers, known)
        _best(answers, project, agent, task_type, chosen)
        _moved(answers, project)
        _failing(answers, project)
        _errors(answers, project)


def _by_frequency(rows: pl.DataFrame, column: str) -> list[str]:
    """What a column holds, most rows first, '' left out unless it is a project."""
    counts = rows.group_by(column).len().sort("len", column, descending=[True, False])
    return [value for value in counts[column].to_list() if value or column == "project"]


def _label(text: str) -> str:
    return shortened(terminal_safe(text), _LABEL_CHARACTERS)


def _chosen(rows: pl.DataFrame, agent: str, task_type: str) -> pl.DataFrame:
    if agent:
        rows = rows.filter(pl.col("agent") == agent)
    return rows.filter(pl.col("task_type") == task_type) if task_type else rows


def _strategy_row(row: Row) -> str:
    return project_view("strategies", row["project"], task_type=row["task_type"], strategy=row["strategy_id"])


def _one(answers: Answers, known: pl.DataFrame) -> None:
    """What is known of one strategy, where the address names one."""
    strategy_id = address("strategy")
    if not strategy_id:
        return
    rows = known.filter(pl.col("strategy_id") == strategy_id)
    if rows.is_empty():
        told("warning", "the address names a strategy that is not known", "choose one from the table below")
        return
    section("One strategy", f"{quoted(rows['strategy'][0])}, wherever it was tried:")
    columns = ["project", "agent", "task_type", "attempts", "successes", "sessions"]
    estimates = ["confidence", "confidence_low", "confidence_high", "trend"]
    table(rows.head(_ROWS), "strategies", caption="Where it was tried", columns=[*columns, *estimates])
    wordings = answers.rows("strategy_wordings", _MOST_STRATEGIES).filter(pl.col("strategy_id") == strategy_id)
    if wordings.height:
        said("Its wordings:")
        shown = ["project", "strategy", "reason"]
        table(wordings.head(_ROWS), "strategy_wordings", caption="What was taken for this strategy", columns=shown)
    command("why", strategy_id, purpose="Every outcome behind these numbers")


def _best(answers: Answers, project: str | None, agent: str, task_type: str, chosen: pl.DataFrame) -> None:
    of = {"project": pattern(project), "task_type": pattern(task_type or None)}
    best = _chosen(answers.rows("best_strategies", _MOST_STRATEGIES, **of), agent, "")
    section("Which strategy to use", _best_words(best, task_type))
    if chosen.is_empty():
        asked("best_strategies", **of)
        return
    if task_type:
        drawn(_intervals(chosen))
    else:
        drawn(charts.strategies_per_task(chosen))
    table(
        best.head(_ROWS),
        "best_strategies",
        caption="Per project, agent and kind of task, the tried strategy with the highest lower bound",
        links={"task_type": lambda row: project_view("strategies", row["project"], task_type=row["task_type"])},
    )
    asked("best_strategies", **of)
    said("All that was tried, with the figures of each strategy per project, agent and kind of task:")
    number = page_number(chosen.height, _ROWS)
    table(
        chosen.slice((number - 1) * _ROWS, _ROWS),
        "strategies",
        caption="Strategies, highest lower bound first within each kind of task",
        links={"strategy": _strategy_row},
    )
    asked("strategies", project=pattern(project))
    figures(
        [Figure("calibration", "can these estimates be believed?", "", view(FIRST_PAGE, question="calibration"))],
        label="How good the forecasts were",
    )


def _best_words(best: pl.DataFrame, task_type: str) -> str:
    if best.is_empty():
        return "No strategy was tried yet: that needs outcomes with a strategy."
    first = best.row(0, named=True)
    where = " / ".join(named(first[name]) for name in ("project", "agent", "task_type") if first[name])
    alone = " It is the only one tried there, which is no choice." if first["strategies_tried"] == 1 else ""
    sure = "" if first["is_reliable"] else " Not reliable yet: too few attempts, or the lower end is not above .50."
    hint = "" if task_type else " Choose a kind of task to see what was tried for it."
    tried = counted(first["strategies_tried"], "tried strategy", "tried strategies")
    return (
        f"Highest lower bound among {tried}: {quoted(first['strategy'])} ({where or 'no project'}). Estimated success "
        f"{part(first['confidence'])} on the next comparable attempt; 90 % credible interval "
        f"{interval(first['confidence_low'], first['confidence_high'])}; {counted(first['attempts'], 'attempt')}."
        f"{alone}{sure}{hint}"
    )


def _intervals(chosen: pl.DataFrame):  # noqa: ANN202 - an Altair chart
    place = pl.concat_str([pl.col("project"), pl.col("agent")], separator=" / ").str.strip_chars("/ ").alias("place")
    return charts.confidence_intervals(
        chosen.with_columns(place), label="strategy", group="place", noun=("strategy", "strategies")
    )


def _moved(answers: Answers, project: str | None) -> None:
    of = {"project": pattern(project)}
    rows = answers.rows("worsening_strategies", _MOST_PATTERNS, **of)
    section("Which got worse or better", _moved_words(answers, of))
    if rows.height:
        table(rows, "worsening_strategies", caption="Strategies whose success surely changed, worse ones first")
    asked("worsening_strategies", **of)


def _moved_words(answers: Answers, of: dict[str, str]) -> str:
    counts = dict(answers.counts("worsening_strategies", "trend", **of).iter_rows())
    if not counts:
        return "No strategy's success surely changed in the last 28 days, beside all before."
    return " and ".join(f"{counts[trend]:,} {trend}" for trend in ("weakening", "strengthening") if trend in counts) + (
        ", by the last 28 days beside all before."
    )


def _failing(answers: Answers, project: str | None) -> None:
    of = {"project": pattern(project)}
    states = answers.counts("anti_patterns_by_state", "state", **of)
    costliest = answers.rows("costliest_anti_patterns", _MOST_PATTERNS, **of)
    section("Which strategies keep failing", " ".join(state_story.patterns(states)))
    said(*map(story.failure, costliest.head(_TOLD_PATTERNS).to_dicts()))
    if costliest.height:
        drawn(charts.anti_patterns(costliest))
        table(
            costliest,
            "costliest_anti_patterns",
            caption="Open anti-patterns: what they cost, and what was tried and is surely better",
            columns=[
                *("pattern", "better_alternative", "project", "agent", "task_type", "kind", "failures", "attempts"),
                *("expected_failures", "cost", "cost_unit", "why_bad"),
            ],
        )
    asked("costliest_anti_patterns", **of)
    rows = answers.rows("anti_patterns_by_state", _MOST_PATTERNS, **of)
    if rows.height:
        table(rows, "anti_patterns_by_state", caption="Anti-patterns by state, with the evidence for them")
        asked("anti_patterns_by_state", **of)


def _errors(answers: Answers, project: str | None) -> None:
    of = {"project": pattern(project)}
    kinds = answers.count("common_errors", **of, limit=ALL)
    section(
        "Which errors come up most",
        f"{counted(kinds, 'kind of error', 'kinds of error')}, numbers, paths and names aside."
        if kinds
        else "No attempt failed with an error message yet.",
    )
    if kinds:
        rows = answers.rows("common_errors", _ROWS, **of)
        table(rows, "common_errors", caption="The errors with most failed attempts")
        command("why", rows["error_id"][0], purpose="What is behind the first")
    asked("common_errors", **of)
