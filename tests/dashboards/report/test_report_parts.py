"""Sections of the report of given answers: what is grouped, counted whole, and said where it is tiny."""

from __future__ import annotations

from datetime import date

import duckdb
import polars as pl

from slowwave.dashboards.cookbook.answers import Answers
from slowwave.dashboards.report import details

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
    rows = [one, alike, alike | {"id": "memory 7"}, worse_row("stale", "shop", 42)]
    section = details.worse(Given(got_worse=pl.DataFrame(rows, infer_schema_length=None)))
    leads = [item.lead for item in section.lists[0].items]
    assert ["ada · deploy" in lead for lead in leads] == [True, False, False]
    assert [lead.endswith(f" · {alike['id']}") for lead in leads] == [False, True, False]
    assert leads[2].endswith(" · memory 7")


def test_tiny_shares_are_words_in_tables() -> None:
    rows = pl.DataFrame({"memories_count": [9, 9, 9], "skill": [-0.0005, 0.5, None], "calibration_error": [5e-4, 0, 1]})
    html = Given().table(rows, "need_calibration", "Forecasts").html
    assert "below 0.001" in html
    assert "above −0.001" in html
    assert ">0.5<" in html
    assert ">–<" in html
    assert "e-0" not in html
