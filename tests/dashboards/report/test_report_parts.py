"""Sections of the report of given answers: what is grouped, counted whole, and said where it is tiny."""

from __future__ import annotations

from datetime import date, datetime

import duckdb
import polars as pl

from slowwave.dashboards.cookbook.answers import Answers
from slowwave.dashboards.report import act as report_act
from slowwave.dashboards.report import state as report_state

DAY = date(2026, 3, 30)


class Given(Answers):
    """Answers that are given, by recipe."""

    def __init__(self, **frames: pl.DataFrame) -> None:
        super().__init__(duckdb.connect())
        self.frames = frames

    def rows(self, name: str, first: int, **_params: str) -> pl.DataFrame:
        return self.frames[name].head(first)

    def counts(self, name: str, *columns: str, **_params: str) -> pl.DataFrame:
        counted = self.frames[name].group_by(*columns).agg(pl.len().cast(pl.Int64).alias("rows"))
        return counted.sort(-pl.col("rows"), *columns)


def worse_row(what: str, project: str | None, number: int, kind: str = "memory") -> dict[str, object]:
    since = f"not referenced since 2026-02-{number % 28 + 1:02}"
    where = {"project": project, "agent": None, "task_type": None}
    row: dict[str, object] = {"kind": kind, **where, "what": what, "day": DAY, "detail": since}
    return row | {"text": f"text {number}", "id": f"m{number}"}


def test_rows_that_look_alike_carry_what_differs() -> None:
    one = worse_row("weakening", "shop", 41, "strategy") | {"agent": "ada", "task_type": "deploy"}
    alike = worse_row("verdict review", "shop", 40)
    rows = [one, one | {"task_type": "build"}, alike, alike | {"id": "memory 7"}, worse_row("stale", "shop", 42)]
    section = report_act.worse(Given(got_worse=pl.DataFrame(rows, infer_schema_length=None)))
    leads = [item.lead for item in section.lists[0].items]
    assert ["ada · deploy" in lead for lead in leads] == [True, False, False, False, False]
    assert ["ada · build" in lead for lead in leads] == [False, True, False, False, False]
    assert [lead.endswith(f" · {alike['id']}") for lead in leads] == [False, False, True, False, False]
    assert leads[3].endswith(" · memory 7")


def test_what_only_faded_is_grouped_by_project_after_what_got_worse() -> None:
    faded = [worse_row("forgettable", "shop", number) for number in range(30)]
    faded += [worse_row("weak", None, number) for number in range(30, 33)]
    others = [worse_row("verdict review", "shop", 40), worse_row("weakening", "shop", 41, "strategy")]
    section = report_act.worse(Given(got_worse=pl.DataFrame([*faded, *others], infer_schema_length=None)))
    first, last = section.lists
    assert first.caption == "All 2 things that got worse"
    assert [item.text for item in first.items] == ["text 40", "text 41"]
    assert last.caption == "What faded, by project"
    assert [(item.lead, item.text, item.note, item.command) for item in last.items] == [
        (
            "30 memories of shop became forgettable",
            "text 0",
            "The first of them: not referenced since 2026-02-01",
            "slowwave why m0",
        ),
        (
            "3 memories of no project became weak",
            "text 30",
            "The first of them: not referenced since 2026-02-03",
            "slowwave why m30",
        ),
    ]


def test_anti_patterns_are_drawn_of_all_and_counted_as_the_sentence_says() -> None:
    row = {
        "kind": "avoid", "project": "shop", "agent": "coder", "task_type": "bugfix", "pattern": "rerun",
        "error_template": None, "failure_rate": 0.9, "baseline_rate": 0.2, "e_value": 50.0,
        "last_seen_at": datetime(2026, 3, 30),  # noqa: DTZ001 - naive times hold UTC
    }  # fmt: skip
    rows = pl.DataFrame([row | {"state": "dormant" if at < 51 else "closed"} for at in range(63)])
    section = report_state.patterns(Given(anti_patterns_by_state=rows, common_errors=pl.DataFrame()))
    assert section.says[0].startswith("63 anti-patterns: 51 dormant")
    assert section.figures[0].title.startswith("63 anti-patterns kept failing; none is open")


def test_tiny_shares_are_words_in_tables() -> None:
    rows = pl.DataFrame({"memories_count": [9, 9, 9], "skill": [-0.0005, 0.5, None], "calibration_error": [5e-4, 0, 1]})
    html = Given().table(rows, "need_calibration", "Forecasts").html
    assert "below .001" in html
    assert "above −.001" in html
    assert ">0.5<" in html
    assert ">–<" in html
    assert "e-0" not in html
