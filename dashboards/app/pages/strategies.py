"""The page of strategies: which to use for a kind of task, which got worse, which keep failing, with which errors."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl
import streamlit as st

from slowwave.dashboards.app.scope import compared_counts, scope_bar
from slowwave.dashboards.app.widgets import (
    address,
    choice,
    draw_chart,
    draw_recipe_link,
    draw_rows,
    draw_text,
    label_of,
    pattern,
    section,
)
from slowwave.dashboards.charts import learning
from slowwave.dashboards.cookbook.answers import ALL, Answers
from slowwave.dashboards.cookbook.cookbook import cookbook
from slowwave.dashboards.cookbook.published import Published
from slowwave.dashboards.report import night_story as story
from slowwave.dashboards.report import state_story
from slowwave.dashboards.words import (
    attempts_words,
    interval,
    not_tried_lately,
    number_of,
    part,
    project_label,
    quote_text,
)

Of = Mapping[str, str]  # what is chosen, as the recipes take it

_MOST_STRATEGIES = 100_000
_ROWS = 20
_MOST_TRIED = 2_000
_TABS = ["Over time", "All tried", "Failing", "Changes", "Not tried here", "Errors", "Forecasts"]
_NONE_BETTER = "No strategy tried elsewhere is likely to beat the best so far."
_BEST_COLUMNS = (
    *("task_type", "strategy", "confidence", "is_reliable", "attempts", "project", "agent"),
    *("strategies_tried", "trend"),
)


def strategies_page(published: Published) -> None:
    """Draw the page."""
    bar = scope_bar(published, "Strategies", "strategies")
    with published.answers() as answers:
        where = {name: pattern for name, pattern in bar.of("strategies").items() if name in ("project", "agent")}
        with bar.row:
            kinds = [kind for kind in answers.counts("strategies", "task_type", **where)["task_type"] if kind]
            task_type = choice(
                "Kind of task", "task_type", kinds, unchosen="All kinds of task", shown=label_of, is_bare=True
            )
        of_task = {"task_type": pattern(task_type or None)}
        of = where | of_task
        of_days = bar.of("strategies") | of_task
        compared_counts(bar, "strategies", "trend", **of_task)
        graded = answers.rows("calibration", _MOST_STRATEGIES)
        draw_text(story.grade(graded)[0])
        _best(answers, of, task_type)
        tabs = st.tabs(_TABS, default=address("tab") if address("tab") in _TABS else None)
        with tabs[0]:
            _over_time(answers, bar.of("success_by_week"))
        for tab, draw in zip(tabs[1:], (_draw_tried_strategies, _failing, _draw_changed_strategies), strict=False):
            with tab:
                draw(answers, of_days)
        with tabs[4]:
            _draw_untried_strategies(answers, of)
        with tabs[5]:
            _errors(answers, of_days)
        with tabs[6]:
            _calibration(answers, graded)


def _best(answers: Answers, of: Of, task_type: str) -> None:
    best, total = answers.rows("best_strategies", 1, **of), answers.count("best_strategies", **of)
    section("Which strategy to use", strategy_to_use(best, total, task_type))
    draw_rows(
        answers,
        "best_strategies",
        "Best so far, per project, agent and kind of task",
        of,
        estimate="confidence",
        columns=_BEST_COLUMNS,
        labels={"confidence": "Estimate", "is_reliable": "Above 0.50"},
    )


def _draw_tried_strategies(answers: Answers, of: Of) -> None:
    draw_rows(
        answers,
        "strategies",
        "Tried strategies per kind of task, best first",
        of,
        most=_MOST_TRIED,
        estimate="confidence",
        columns=[
            *("strategy", "confidence", "attempts", "inferred", "successes", "sessions", "trend"),
            *("project", "agent", "task_type", "wordings"),
        ],
        labels={"confidence": "Estimate"},
    )


def _over_time(answers: Answers, asking: Of) -> None:
    """Success of all attempts week by week; a kind of task has too few a week."""
    draw_chart(learning.success_by_week(answers.rows("success_by_week", _MOST_STRATEGIES, **asking)))
    draw_recipe_link("success_by_week", **asking)


def strategy_to_use(best: pl.DataFrame, total: int, task_type: str) -> str:
    """Which strategy to use and whose answer that is. `best`: first of `total` rows of the recipe `best_strategies`.

    Without a `task_type` no strategy is named where there are several answers: one is as good as any.
    """
    if best.is_empty():
        return "No strategy to use is known: that needs outcomes with a strategy."
    if total > 1 and not task_type:
        return f"{total:,} answers, one per project, agent and kind of task: choose a kind of task."
    first = best.row(0, named=True)
    where = " / ".join(project_label(first[name]) for name in ("project", "agent", "task_type") if first[name])
    tried = number_of(first["strategies_tried"], "tried strategy", "tried strategies")
    sure = "reliable" if first["is_reliable"] else "not reliable yet"
    return (
        f"Best so far of {tried}: {quote_text(first['strategy'])} ({where or 'no project'}), estimate "
        f"{part(first['confidence'])} ({interval(first['confidence_low'], first['confidence_high'])}), {sure}; "
        f"{attempts_words(first['attempts'], first['inferred'])}.{not_tried_lately(first['trend'])}"
    )


def _draw_changed_strategies(answers: Answers, of: Of) -> None:
    draw_text(_moved_words(answers, of))
    draw_rows(
        answers,
        "worsening_strategies",
        "Changed strategies, worse ones first",
        of,
        estimate="confidence",
        columns=[
            *("strategy", "trend", "confidence", "success_rate", "sessions", "last_validated_at"),
            *("project", "agent", "task_type"),
        ],
        labels={"confidence": "Estimate", "success_rate": "Success rate, all time"},
    )


def _moved_words(answers: Answers, of: Of) -> str:
    counts = dict(answers.counts("worsening_strategies", "trend", **of).iter_rows())
    if not counts:
        return "No strategy changed in the last 28 days with a probability of 95 %."
    return " and ".join(f"{counts[trend]:,} {trend}" for trend in ("weakening", "strengthening") if trend in counts) + (
        ": the last 28 days, compared with all before."
    )


def _draw_untried_strategies(answers: Answers, of: Of) -> None:
    total = answers.count("untried_strategies", **of)
    draw_text(
        f"{number_of(total, 'strategy', 'strategies')} tried elsewhere could do better." if total else _NONE_BETTER
    )
    draw_rows(
        answers,
        "untried_strategies",
        "Tried elsewhere, likeliest gains first",
        of,
        most=_ROWS,
        estimate="confidence",
        columns=[
            *("strategy", "confidence", "best_tried", "best_tried_confidence", "elsewhere_successes"),
            *("elsewhere_attempts", "twin_successes", "twin_attempts", "project", "agent", "task_type"),
        ],
        labels={"confidence": "Estimate here", "best_tried": "Best so far", "best_tried_confidence": "Its estimate"},
    )


def _failing(answers: Answers, of: Of) -> None:
    draw_text(*state_story.patterns(answers.counts("anti_patterns_by_state", "state", **of)))
    draw_rows(
        answers,
        "costliest_anti_patterns",
        "Open anti-patterns, most expensive first",
        of,
        labels={"better_alternative": "Best so far"},
        columns=[
            *("pattern", "better_alternative", "project", "task_type", "failures", "attempts", "expected_failures"),
            *("cost", "cost_unit", "why_bad", "kind", "agent"),
        ],
    )
    draw_text(*story.hard_tasks(answers.count("hard_tasks", **of)))
    draw_rows(answers, "hard_tasks", "Kinds of task at which nobody succeeds", of)
    names = [column.name for column in cookbook()["anti_patterns_by_state"].columns]
    columns = ["pattern", "state", *(name for name in names if name not in ("pattern", "state"))]
    draw_rows(answers, "anti_patterns_by_state", "Anti-patterns by state, with evidence", of, columns=columns)


def _errors(answers: Answers, of: Of) -> None:
    kinds = answers.count("common_errors", **of, limit=ALL)
    draw_text(
        f"{number_of(kinds, 'kind of error', 'kinds of error')}, counted per project."
        if kinds
        else "No attempt failed with an error message yet.",
    )
    columns = [
        *("error_template", "error_family_template", "failures", "apart", "sessions", "strategies", "last_at"),
        *("project", "example", "error_id"),
    ]
    draw_rows(answers, "common_errors", "Errors, most failed attempts first", of, most=_ROWS, columns=columns)


def _calibration(answers: Answers, graded: pl.DataFrame) -> None:
    """Forecasts are graded for all projects together."""
    weeks = answers.rows("calibration_by_week", _MOST_STRATEGIES)
    draw_text(*story.grade(graded))
    draw_chart(learning.calibration(weeks))
    draw_chart(learning.calibration_error(graded))
    draw_recipe_link("calibration_by_week")
    need = answers.rows("need_calibration", _MOST_STRATEGIES)
    draw_text(*state_story.need(need))
    draw_chart(learning.need_calibration(need))
    draw_recipe_link("need_calibration")
