"""Every chart: of nothing, of one row, of NULLs, of hostile texts and of a million rows; in any order of its rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from functools import partial
from typing import Any

import altair as alt
import polars as pl
import pytest
from each import each
from thorough import some

from slowwave.dashboards.charts import learning, logs, memories
from slowwave.dashboards.charts.parts import LABEL_WIDTH
from slowwave.dashboards.charts.theme import chart_words

CONTROLS = "\x1b\x01\x9b\u202e\u2028"
HOSTILE = f'<b>{CONTROLS}</svg><script>alert(1)</script>"><img src=x onerror=alert(1)> ]]> =1+1 \n\t\ufffe'
MANY = 1_000_000
MOST_VALUES = 520
Make = Callable[[pl.DataFrame], "alt.LayerChart | None"]
Columns = dict[str, Any]

DAY, TIME = date(2026, 3, 1), datetime(2026, 3, 2)  # noqa: DTZ001 - times are naive and hold UTC
ESTIMATE = {"confidence": 0.7, "confidence_low": 0.55, "confidence_high": 0.85}
TASK = {"project": "shop", "agent": "coder", "task_type": "bugfix"}
GRADES = {"method": "heuristic/1", "metric": "calibration_error", "value": 0.1}
# One row of the recipe each chart is drawn from.
CASES: dict[str, tuple[Make, Columns]] = {
    "memories_by_verdict": (
        memories.memories_by_verdict,
        {"project": "shop", "verdict": "forget", "trend": "stale", "memories_count": 3},
    ),
    "memories_by_state": (
        memories.memories_by_state,
        {"status": "active", "strength_state": "weak", "memories_count": 3},
    ),
    "reinforcement_over_time": (
        memories.reinforcement_over_time,
        {"day": DAY, "injected_interactions": 9, "referencing_interactions": 4},
    ),
    "calibration": (learning.calibration, {"cutoff_at": TIME, "method": "heuristic/1", "brier": 0.2, "attempts": 30}),
    "calibration_error": (learning.calibration, GRADES),
    "decay_forecast": (
        memories.decay_forecast,
        {"day": DAY, "fading_count": 2, "cumulative_count": 2, "active_count": 9, "undated_count": 0},
    ),
    "quarantine_reasons": (logs.quarantine_reasons, {"field": "prompt", "reason": "prompt is blank", "refused": 2}),
    "landed_by_day": (
        logs.landed_by_day,
        {"landed_table": "interactions", "day": DAY, "rows_count": 20, "late_count": 1},
    ),
    "memory_strength": (
        partial(memories.memory_strength, bands={"forgettable below": 0.1}, fades_at=TIME),
        {"at": TIME, "strength": 0.8, "kind": "measured"},
    ),
    "success_by_week": (
        learning.success_by_week,
        {"week": DAY, "project": "shop", "attempts": 20, "success_rate": 0.6, "inferred": 3},
    ),
    "need_calibration": (
        learning.need_calibration,
        {
            "cutoff_at": TIME,
            "skill": 0.1,
            "skill_low": 0.0,
            "skill_high": 0.2,
            "calibration_error": 0.03,
            "calibration_error_if_perfect": 0.02,
        },
    ),
    "result_of_names": (logs.result_chart, {"name": "shop", "count": 3}),
    "result_over_time": (logs.result_chart, {"at": TIME, "count": 3, "share": 0.5}),
    "result_over_numbers": (logs.result_chart, {"strength": 0.3, "need": 0.5}),
}
DRAWN = [name for name in CASES if not name.startswith("result_")]


def frame_of(columns: Columns, rows: int = 1) -> pl.DataFrame:
    return pl.DataFrame([columns]).select(pl.all().repeat_by(rows).explode())


def many_of(columns: Columns, rows: int) -> pl.DataFrame:
    """Rows that differ in every column but those that are one of a few words."""
    at = pl.int_range(rows)
    words = {"verdict", "trend", "status", "strength_state", "kind", "state", "metric", "method", "landed_table"}
    made = {}
    for name, value in columns.items():
        if isinstance(value, datetime):
            made[name] = pl.lit(value) + pl.duration(hours=at)
        elif isinstance(value, date):
            made[name] = pl.lit(value) + pl.duration(days=at % 30_000)
        elif isinstance(value, str):
            made[name] = pl.lit(value) if name in words else pl.lit(value + " ") + (at % 50_021).cast(pl.String)
        elif isinstance(value, float):
            made[name] = pl.lit(value) + (at % 97) * 1e-4
        else:
            made[name] = pl.lit(value) + at % 13
    return pl.select(**made)


def chart_of(name: str, frame: pl.DataFrame) -> alt.LayerChart:
    drawn = CASES[name][0](frame)
    assert drawn is not None
    return drawn


def values_in(spec: object) -> Iterator[list[dict[str, Any]]]:
    if isinstance(spec, dict):
        for key, value in spec.items():
            if key == "datasets":
                yield from value.values()
            yield from values_in(value)
    elif isinstance(spec, list):
        for item in spec:
            yield from values_in(item)


def rows_of(spec: object) -> list[dict[str, Any]]:
    """The values that stand in rows."""
    return [row for values in values_in(spec) for row in values if "row" in row]


@each("name", DRAWN)
def test_nothing_to_draw_is_said(name):
    chart = chart_of(name, frame_of(CASES[name][1]).clear())
    title, subtitle, description = chart_words(chart)
    assert title.startswith("No ")
    assert subtitle
    assert description.startswith(title)


@each("name", CASES)
def test_one_row_has_title_description_and_axes(name):
    chart = chart_of(name, frame_of(CASES[name][1]))
    title, subtitle, description = chart_words(chart)
    assert title
    assert subtitle
    assert description.startswith(title)
    spec = json.dumps(chart.to_dict())
    assert '"url"' not in spec
    assert '"href"' not in spec
    titled = [str(channel.get("title") or "") for layer in chart.to_dict()["layer"] for channel in channels(layer)]
    assert any(titled) or name in {"calibration_error", "decay_forecast"}  # one row is not enough for a picture


def channels(layer: dict[str, Any]) -> list[dict[str, Any]]:
    return list(layer.get("encoding", {}).values())


@pytest.mark.parametrize("name", some(CASES, 10))
def test_nulls_in_every_column_are_no_error(name):
    columns = CASES[name][1]
    whole = frame_of(columns, 3)
    for column in columns:
        half = whole.with_columns(pl.when(pl.int_range(pl.len()) == 0).then(pl.col(column)).alias(column))
        none = whole.with_columns(pl.lit(None, whole.schema[column]).alias(column))
        for frame in (half, none):
            drawn = CASES[name][0](frame)
            if drawn is not None:
                json.dumps(drawn.to_dict(), allow_nan=False)
    everything = whole.with_columns(pl.lit(None, dtype).alias(column) for column, dtype in whole.schema.items())
    drawn = CASES[name][0](everything)
    assert drawn is None or drawn.to_dict()


@each("name", CASES)
def test_hostile_texts_are_short_and_without_controls(name):
    columns = {key: HOSTILE * 20 if isinstance(value, str) else value for key, value in CASES[name][1].items()}
    kept = {key: value for key, value in CASES[name][1].items() if key in {"metric", "kind"}}
    spec = chart_of(name, frame_of(columns | kept)).to_dict()
    written = json.dumps(spec, ensure_ascii=False)
    assert not [char for char in CONTROLS if char in written]
    longest = max((len(text) for text in texts_in(spec["layer"])), default=0)
    assert longest <= 3 * LABEL_WIDTH + 60


def test_hostile_names_of_columns_are_only_titles():
    frame = pl.DataFrame({HOSTILE * 20: ["x"], HOSTILE: [1], "datum.x['y']": [2]})
    for columns in (frame.columns, frame.columns[1:]):
        chart = logs.result_chart(frame.select(columns))
        assert chart is not None
        assert max(map(len, texts_in(chart.to_dict()["layer"]))) <= 3 * LABEL_WIDTH
        assert not [char for char in CONTROLS if char in json.dumps(chart.to_dict(), ensure_ascii=False)]


def texts_in(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from texts_in(item)


@pytest.mark.parametrize("name", some(CASES, 3))
def test_a_million_rows_are_a_few_hundred_marks(name):
    spec = chart_of(name, many_of(CASES[name][1], MANY)).to_dict()
    assert max(len(values) for values in values_in(spec)) <= MOST_VALUES
    assert len(json.dumps(spec)) < 200_000


@each("name", CASES)
def test_the_order_of_rows_does_not_matter(name):
    frame = many_of(CASES[name][1], 2_000)
    shuffled = frame.sample(fraction=1, shuffle=True, seed=7)
    assert chart_of(name, frame).to_dict() == chart_of(name, shuffled).to_dict()


def test_titles_say_what_to_conclude():
    verdicts = pl.DataFrame(
        {
            "project": ["a", "b", "a"],
            "verdict": ["forget", "forget", "keep"],
            "trend": ["stale", "new", None],
            "memories_count": [2, 1, 117],
        }
    )
    assert chart_words(memories.memories_by_verdict(verdicts))[0] == (
        "120 active memories by verdict: 0 review, 3 forget, 0 harmful"
    )
    fading = pl.DataFrame(
        {
            "day": [DAY, DAY + timedelta(days=1), DAY + timedelta(days=30)],
            "fading_count": [4, 1, 2],
            "cumulative_count": [4, 5, 7],
            "active_count": [90] * 3,
            "undated_count": [0] * 3,
        }
    )
    title, subtitle, description = chart_words(memories.decay_forecast(fading))
    assert title == "3 of 90 active memories fade in the next 30 days unless referenced"
    assert "4 of them today" in subtitle
    assert "4 memories have faded already; within 30 days 3 more do so, within" in description
    undated = chart_words(memories.decay_forecast(fading.with_columns(undated_count=pl.lit(1083))))[0]
    assert undated == f"{title}; of 1,083 it is not known"


def test_one_is_said_as_one():
    one = {"injected_interactions": 1, "referencing_interactions": 1}
    used = chart_words(memories.reinforcement_over_time(frame_of({"day": DAY} | one)))
    assert used[0] == "1 answer quotes or uses a memory"
    assert used[2].endswith("with a memory injected; 1 answer quotes or uses one.")
    fading = {"day": DAY, "fading_count": 1, "cumulative_count": 1, "active_count": 1, "undated_count": 0}
    after = {**fading, "day": DAY + timedelta(days=1), "cumulative_count": 2}
    description = chart_words(memories.decay_forecast(pl.DataFrame([fading, after])))[2]
    assert description.endswith("1 memory has faded already; within 30 days 1 more does so, within 1 day 1 does.")


def test_titles_without_a_count_are_sentences_too():
    none = {"memories_by_state": {"status": "archived"}, "landed_by_day": {"late_count": 0}}
    titles = {name: chart_words(chart_of(name, frame_of(CASES[name][1] | change)))[0] for name, change in none.items()}
    assert titles == {
        "memories_by_state": "No memory is active",
        "landed_by_day": "None of 20 rows was recorded more than 24 hours after it happened",
    }


def uses_on(*days: int, each: int = 1) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "day": [DAY + timedelta(days=day) for day in days],
            "injected_interactions": [each] * len(days),
            "referencing_interactions": [each] * len(days),
        }
    )


def test_use_is_told_of_named_days_and_nothing_is_drawn_through_days_without():
    chart = memories.reinforcement_over_time(uses_on(0, 12, 18, 19, each=3))
    assert chart_words(chart)[0] == "Answers using a memory: 6 in 7 days, 3 before"
    for days, per in ((uses_on(0, 19), 20), (uses_on(0, 350), 51)):
        values = next(rows for rows in values_in(memories.reinforcement_over_time(days).to_dict()) if len(rows) > 2)
        relied = [row["value"] for row in values if row["series"] == "quoted or used one"]
        assert len(relied) == per
        assert [relied[0], *set(relied[1:-1]), relied[-1]] == [1, 0, 1]
    unlogged = uses_on(0, 12, each=3).with_columns(injected_interactions=pl.lit(0))
    assert "got a memory" not in json.dumps(memories.reinforcement_over_time(unlogged).to_dict())


def test_the_skill_of_need_and_its_interval_have_one_sense():
    row = {**CASES["need_calibration"][1], "skill": -0.028, "skill_low": -0.164, "skill_high": -0.012}
    assert chart_words(learning.need_calibration(pl.DataFrame([row])))[0] == (
        "need_30d is 3 % worse than the base rate, by log loss (90 % interval 1 % to 16 %)"
    )


def test_weeks_are_compared_with_both_simple_forecasts():
    rows = [
        (TIME, "heuristic/1", 0.20), (TIME, "base_rate/1", 0.25), (TIME, "laplace/1", 0.19),
        (TIME + timedelta(days=7), "heuristic/1", 0.21), (TIME + timedelta(days=7), "base_rate/1", 0.22),
    ]  # fmt: skip
    frame = pl.DataFrame(rows, schema=["cutoff_at", "method", "brier"], orient="row")
    title = chart_words(learning.calibration(frame))[0]
    assert title == "Smaller error than the base rate in 2 of 2 weeks and than simple average (Laplace) in 0 of 1 week"


def test_what_was_left_out_is_said():
    reasons = pl.DataFrame({"field": [""] * 20, "reason": [f"reason {at}" for at in range(20)], "refused": [1] * 20})
    rows = next(values_in(logs.quarantine_reasons(reasons).to_dict()))
    assert "refused, among them: reason" in chart_words(logs.quarantine_reasons(reasons))[0]
    most = reasons.with_columns(refused=pl.Series([2] + [1] * 19))
    assert "refused, most often: reason 0" in chart_words(logs.quarantine_reasons(most))[0]
    assert rows[-1] == {"row": "8 other reasons\n8 rows", "value": 8}
    landed = pl.DataFrame({"at": [TIME + timedelta(hours=at) for at in range(5000)], "n": range(5000)})
    chart = logs.result_chart(landed)
    assert chart is not None
    assert chart_words(chart)[1] == "Averages of 10 neighbouring rows each, of 5,000 rows"


def test_results_without_numbers_are_not_drawn():
    assert logs.result_chart(pl.DataFrame({"a": ["x"], "b": ["y"]})) is None
    assert logs.result_chart(pl.DataFrame({"a": [[1]], "b": [True]})) is None
    assert logs.result_chart(pl.DataFrame({"a": [1.0]})) is None
    assert logs.result_chart(pl.DataFrame({"a": ["x"], "b": [float("nan")]})) is None
    assert logs.result_chart(pl.DataFrame()) is None
    assert logs.result_chart(pl.DataFrame({"a": ["x"], "b": ["1.5"]}).cast({"b": pl.Decimal(20, 2)})) is not None


def test_a_week_that_had_not_ended_is_a_ring_and_a_point_says_what_it_rests_on():
    weeks = {"week": DAY, "project": "shop", "attempts": 8, "success_rate": 0.5, "inferred": 0, "is_complete": False}
    chart = learning.success_by_week(frame_of(weeks))
    assert "Ring: a week that had not ended" in chart_words(chart)[1]
    assert any(row.get("n") == 8 for values in values_in(chart.to_dict()) for row in values)
    assert "Ring" not in chart_words(learning.success_by_week(frame_of(weeks | {"is_complete": True})))[1]
