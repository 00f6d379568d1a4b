"""The second half of the report: the state of memories, strategies, forecasts and data."""

from __future__ import annotations

import polars as pl

from slowwave.dashboards.charts import charts
from slowwave.dashboards.commands import command_line
from slowwave.dashboards.cookbook.answers import ALL, Answers, with_interval
from slowwave.dashboards.report import night_story as story
from slowwave.dashboards.report import state_story
from slowwave.dashboards.report.parts import Section
from slowwave.dashboards.words import sum_of

_FIRST = 8
_FEW = 5
_RUNS = 7
# Enough for every chart to choose from, and no more than a moment's work.
_MANY = 20_000


def memories(answers: Answers) -> Section:
    """Memories by verdict, trend and state."""
    verdicts, states = answers.rows("memories_by_verdict", int(ALL)), answers.rows("memories_by_state", int(ALL))
    section = Section("memories", "Memories by verdict, trend and state", state_story.memories(verdicts, states))
    if verdicts.height:
        section.drawn(charts.memories_by_verdict(verdicts))
    if states.height:
        section.drawn(charts.memories_by_state(states))
    rows = answers.rows("verdicts", _FEW)
    if rows.height:
        columns = ["memory_id", "project", "verdict", "main_reason", "content"]
        caption = "What needs a person or a decision first"
        section.tables.append(answers.table(rows, "verdicts", caption, columns))
        section.next(answers.command("why_verdict", memory_id=rows.row(0, named=True)["memory_id"]))
    changed = answers.rows("state_changes", 2 * _FEW)
    if changed.height:
        columns = ["subject", "attribute", "value", "from_at", "until_at", "text", "project"]
        caption = "What changed, the states of each fact one below the other, the oldest first"
        section.tables.append(answers.table(changed, "state_changes", caption, columns))
    return section


def uses(answers: Answers) -> Section:
    """Reinforcement over time."""
    days = answers.rows("references_by_day", _MANY)
    section = Section("use", "Reinforcement over time", state_story.uses(days))
    if days.height:
        section.drawn(charts.reinforcement_over_time(days))
        rows = answers.rows("most_referenced", _FEW)
        columns = [
            "memory_id",
            "project",
            "eligible_count",
            "injected_count",
            "reference_count",
            "echoed_count",
            "content",
        ]
        labels = {"echoed_count": "of them word for word"}
        section.tables.append(
            answers.table(
                rows,
                "most_referenced",
                "Most references: repeated word for word, or used in other words",
                columns,
                labels,
            )
        )
    return section


def confidences(answers: Answers) -> Section:
    """Confidence of memories, with intervals."""
    total = answers.count("most_confident", limit=ALL)
    rows = answers.rows("most_confident", 25)
    section = Section("confidence", "Confidence of memories", state_story.confidences(rows, total))
    if total:
        said = rows.with_columns((pl.col("confirmed_count") + pl.col("contradicted_count")).alias("attempts"))
        chart = charts.confidence_intervals(
            said.head(12),
            label="content",
            group="project",
            noun=("memory", "memories"),
            unit="confidence of a memory",
            total=total,
        )
        section.drawn(chart)
        columns = [
            "memory_id",
            "confidence",
            "confirmed_count",
            "contradicted_count",
            "contradicted_expected",
            "content",
        ]
        labels = {"confidence": "confidence, 90 % interval", "contradicted_expected": "of these expected to fail"}
        labels |= {"confirmed_count": "referenced, succeeded", "contradicted_count": "referenced, failed"}
        shown = with_interval(rows.head(_FEW), "confidence")
        section.tables.append(answers.table(shown, "most_confident", "Most evidence first", columns, labels))
    return section


def grades(answers: Answers) -> Section:
    """Whether forecasts can be believed."""
    rows = answers.rows("calibration", _MANY)
    section = Section("calibration", "Can the forecasts be believed?", state_story.need(need := _need(answers)))
    section.says = [*story.grade(rows), *section.says]
    weeks = answers.rows("calibration_by_week", _MANY)
    if weeks["brier"].count():
        section.drawn(charts.calibration(weeks))
    if rows.filter(pl.col("metric") == "calibration_error").height:
        section.drawn(charts.calibration_error(rows))
    if need["skill"].count():
        section.drawn(charts.need_calibration(need))
    graded = rows.filter(pl.col("metric").is_in(["brier", "calibration_error"]))
    if graded.height:
        section.tables.append(answers.table(graded, "calibration", "Forecasts of success, beside simple ones"))
    if need.height:
        columns = ["cutoff_at", "memories_count", "skill", "skill_low", "skill_high", "calibration_error"]
        columns += ["calibration_error_if_perfect"]
        table = answers.table(need.head(_FEW), "need_calibration", "Forecasts of need, newest first", columns)
        section.tables.append(table)
    return section


def _need(answers: Answers) -> pl.DataFrame:
    return answers.rows("need_calibration", _MANY)


def strategies(answers: Answers) -> Section:
    """Strategies per kind of task."""
    best = answers.rows("best_strategies", _FIRST)
    total = answers.count("best_strategies")
    reliable = answers.counts("best_strategies", "is_reliable")
    trends = answers.counts("worsening_strategies", "trend")
    section = Section(
        "strategies", "Strategies per kind of task", state_story.strategies(best, total, reliable, trends)
    )
    if not total:
        return section
    section.drawn(charts.strategies_per_task(answers.rows("strategies", _MANY)))
    shown = with_interval(best, "confidence")
    columns = ["project", "agent", "task_type", "strategy", "confidence", "attempts", "strategies_tried", "is_reliable"]
    caption = "Highest lower bound among tried strategies"
    labels = {"confidence": "estimated success, 90 % interval"}
    section.tables.append(answers.table(shown, "best_strategies", caption, columns, labels))
    untried = answers.rows("untried_strategies", _FEW)
    if untried.height:
        columns = ["project", "agent", "task_type", "strategy", "confidence", "best_tried", "best_tried_confidence"]
        caption = "Not tried here, but elsewhere in the project: what could beat the best tried one"
        labels = {"confidence": "estimated success, not tried here, 90 % interval"}
        shown = with_interval(untried, "confidence")
        section.tables.append(answers.table(shown, "untried_strategies", caption, columns, labels))
    moved = answers.rows("worsening_strategies", _FEW)
    if moved.height:
        columns = ["trend", "project", "agent", "task_type", "strategy", "success_rate", "confidence", "sessions"]
        moved = with_interval(moved, "confidence")
        section.tables.append(
            answers.table(
                moved,
                "worsening_strategies",
                "Strategies whose success changed",
                columns,
                {"confidence": "estimated success, 90 % interval"},
            )
        )
    return section


def success(answers: Answers) -> Section:
    """Success week by week."""
    weeks = answers.rows("success_by_week", _MANY)
    section = Section("success", "Success week by week", state_story.success(weeks))
    if weeks.height:
        section.drawn(charts.success_by_week(weeks))
        section.tables.append(answers.table(weeks.head(_FEW), "success_by_week", "Newest weeks"))
    return section


def patterns(answers: Answers) -> Section:
    """Anti-patterns with their alternative."""
    states = answers.counts("anti_patterns_by_state", "state")
    section = Section("antipatterns", "Anti-patterns and what works instead", state_story.patterns(states))
    if states.height:
        rows = answers.rows("anti_patterns_by_state", _MANY)
        is_open = states.filter(pl.col("state") == "open")
        shown = answers.rows("costliest_anti_patterns", _MANY) if is_open.height else rows
        section.drawn(charts.anti_patterns(shown, total=sum_of(is_open if is_open.height else states)))
        columns = ["state", "kind", "project", "task_type", "pattern", "failure_rate", "baseline_rate", "last_seen_at"]
        section.tables.append(answers.table(rows.head(_FEW), "anti_patterns_by_state", "Open ones first", columns))
    errors = answers.rows("common_errors", _FEW)
    if errors.height:
        columns = [
            "project",
            "error_template",
            "error_family_template",
            "failures",
            "apart",
            "sessions",
            "strategies",
            "last_at",
        ]
        section.tables.append(answers.table(errors, "common_errors", "Errors that come up most", columns))
    return section


def fading(answers: Answers) -> Section:
    """What fades."""
    days = answers.rows("decay_forecast", _MANY)
    section = Section("fading", "What fades", state_story.fading(days))
    if days.height and days["cumulative_count"][-1]:
        section.drawn(charts.decay_forecast(days))
    rows = answers.rows("fading_soon", _FEW)
    if rows.height:
        columns = ["memory_id", "project", "fades_at", "days_left", "strength", "need_30d", "content"]
        section.tables.append(answers.table(rows, "fading_soon", "Next to fade, unless referenced", columns))
    return section


def refused(answers: Answers) -> Section:
    """What was refused."""
    reasons = answers.rows("quarantine_reasons", _MANY)
    section = Section("refused", "Refused rows", state_story.refused(reasons))
    if reasons.height:
        section.drawn(charts.quarantine_reasons(reasons))
        columns = ["field", "reason", "refused", "sources", "last_source"]
        section.tables.append(answers.table(reasons.head(_FEW), "quarantine_reasons", "Most frequent reasons", columns))
        section.next(command_line("sql", "SELECT source, row_number, reason, raw_text FROM quarantine"))
    return section


def landed(answers: Answers) -> Section:
    """Late rows and freshness."""
    days = answers.rows("landed_by_day", _MANY)
    newest = answers.rows("freshness", _MANY)
    section = Section("landed", "Late rows and freshness", [*state_story.landed(days), *state_story.freshness(newest)])
    if days.height:
        section.drawn(charts.landed_by_day(days))
    late = answers.rows("late_rows", _FEW)
    if late.height:
        section.tables.append(answers.table(late, "late_rows", "Newest days with late rows"))
    if newest.height:
        section.tables.append(answers.table(newest.head(_FIRST), "freshness", "Newest row of each kind and project"))
    return section


def runs(answers: Answers) -> Section:
    """The last runs."""
    rows = answers.rows("recent_runs", _RUNS)
    section = Section("runs", "The last runs", state_story.nights(rows))
    columns = ["run_id", "kind", "status", "as_of", "seconds", "accepted", "quarantined", "days_built_count"]
    section.tables.append(answers.table(rows, "recent_runs", "Newest first", columns))
    return section
