"""landed_days: each day from that day's winning rows alone, so that one more day costs the day."""

from __future__ import annotations

from datetime import date, timedelta
from unittest.mock import patch

import polars as pl
import pytest

from slowwave.transforms.landing import landed_days
from tests.laws.deliveries import START, jsonl

DAY = timedelta(days=1)
AS_OF = START + 5 * DAY
LOG = [
    {"memory_id": "rule", "changed_at": START, "content": "Read the log first", "status": "active", "project": "shop"},
    *[
        {"interaction_id": f"i{n}", "created_at": START + n * DAY, "prompt": "?", "project": "shop", "success": True}
        for n in range(4)
    ],
]


def _told(home) -> dict[tuple[str, date], tuple[int, int]]:
    rows = home.table("landed_days")
    return {(row["landed_table"], row["day"]): (row["rows_count"], row["late_count"]) for row in rows}


@pytest.mark.slow
def test_only_the_days_whose_rows_changed_are_counted_anew(home, new_home):
    counted: list[tuple[str, date]] = []
    right = landed_days.landed_days

    def seen(rows: pl.LazyFrame) -> pl.LazyFrame:
        found = right(rows).collect()
        counted.extend(found.select("landed_table", "day").iter_rows())
        return found.lazy()

    home.drop("log.jsonl", jsonl(LOG))
    home.nightly(AS_OF)
    late = LOG[2] | {"interaction_id": "late", "recorded_at": START + 3 * DAY}
    # i2 moves to the next day, and was recorded in time
    moved = LOG[3] | {"created_at": START + 3 * DAY, "recorded_at": START + 3 * DAY + timedelta(hours=1)}
    home.drop("news.jsonl", jsonl([late, moved]))
    with patch.object(landed_days, "landed_days", seen):
        home.nightly(AS_OF)
    second, third, fourth = ((START + n * DAY).date() for n in (1, 2, 3))
    assert {day for _, day in counted} == {second, fourth}
    told = _told(home)
    assert told["interactions", second] == (2, 1)
    assert ("interactions", third) not in told
    assert told["interactions", fourth] == (2, 0)
    at_once = new_home()
    at_once.drop("all.jsonl", jsonl([*LOG, late, moved]))
    at_once.nightly(AS_OF)
    assert at_once.table("landed_days") == home.table("landed_days")
    assert at_once.hashes() == home.hashes()


def test_an_earlier_publish_takes_away_what_came_later(home):
    home.drop("log.jsonl", jsonl(LOG))
    home.nightly(AS_OF)
    home.nightly(START + 2 * DAY)
    assert {day for _, day in _told(home)} == {(START + n * DAY).date() for n in (0, 1)}
