"""Where an earlier publish has few rows to take over, all are written anew."""

from __future__ import annotations

from datetime import datetime
from unittest.mock import patch

import duckdb
import polars as pl
import pytest
from small_home import SmallHome, interaction, memory, outcome

from slowwave.flows.publish import base, publish
from slowwave.flows.publish.serving import ServingFile
from slowwave.transforms.core.schema import Table
from slowwave.transforms.learning.tables import CountedOutcomes


@pytest.mark.slow
def test_few_rows_are_written_anew(tmp_path):
    home, bases, right = SmallHome(tmp_path / "home"), [], base.base_of
    home.land(memory("m1"), *[interaction(f"i{i}", memories_used=["m1"]) for i in range(3)])
    home.nightly(datetime(2026, 3, 3))  # noqa: DTZ001 - times are naive and hold UTC everywhere
    with patch.object(publish, "base_of", lambda *given: bases.append(right(*given)) or bases[-1]):
        for fewest in (0, 10, 1):
            # three references, a memory's two days of history, and what landed
            with patch.object(base, "FEWEST_ROWS", fewest):
                home.nightly(datetime(2026, 3, 4 + fewest))  # noqa: DTZ001 - as above
    assert [found is None for found in bases] == [False, True, False]


@pytest.mark.slow
@pytest.mark.parametrize("table", ["memory_references", "counted_outcomes", "strength_fits", "heuristics"])
def test_where_what_is_read_of_current_is_damaged_all_is_written_anew(tmp_path, table):
    home = SmallHome(tmp_path / "home")
    told = [interaction(f"i{day}", created_at=f"2026-03-0{day}T09:00:00Z", memories_used=["m1"]) for day in (2, 3)]
    home.land(memory("m1"), told[0], outcome("o1", interaction_id="i2", strategy="one"))
    home.nightly(datetime(2026, 3, 3))  # noqa: DTZ001 - as above
    with duckdb.connect(home.settings.current.resolve()) as connection:
        connection.execute(f"DROP TABLE {table}")
    home.land(told[1])
    home.nightly(datetime(2026, 3, 4))  # noqa: DTZ001 - as above
    with duckdb.connect(home.settings.current, read_only=True) as connection:
        found = connection.execute("SELECT count(*) FROM memory_references").fetchall()
        said = connection.execute("SELECT message FROM runs WHERE as_of = '2026-03-04'").fetchall()
    assert found == [(2,)]
    # all others are looked at before anything is taken over
    assert ("all tables were written anew" in (said[0][0] or "")) == (table == "heuristics")


@pytest.mark.slow
@pytest.mark.parametrize("at", ["'infinity'", "'290000-01-01'", "'2000-01-01 (BC)'", "NULL", "'2026-03-09'"])
def test_a_damaged_time_of_what_is_compared_is_not_carried_on(tmp_path, at):
    home = SmallHome(tmp_path / "home")
    told = [interaction(f"i{day}", created_at=f"2026-03-0{day}T09:00:00Z") for day in (2, 3)]
    home.land(*told, outcome("o1", interaction_id="i2"), outcome("o2", interaction_id="i2"))
    home.nightly(datetime(2026, 3, 3))  # noqa: DTZ001 - as above
    with duckdb.connect(home.settings.current.resolve()) as connection:
        connection.execute("ALTER TABLE counted_outcomes ALTER created_at DROP NOT NULL")
        connection.execute(f"UPDATE counted_outcomes SET created_at = {at} WHERE outcome_id = 'o1'")  # noqa: S608 - our own SQL
    home.nightly(datetime(2026, 3, 4))  # noqa: DTZ001 - as above
    with duckdb.connect(home.settings.current, read_only=True) as connection:
        found = connection.execute("SELECT outcome_id, created_at FROM counted_outcomes ORDER BY ALL").fetchall()
    assert found == [(name, datetime(2026, 3, 2, 10)) for name in ("o1", "o2")]  # noqa: DTZ001 - as above


def test_outcomes_of_days_that_came_out_the_same_are_not_written(tmp_path):
    """A second outcome of an interaction decides in place of the first, which is of an earlier day."""
    home, written, right = SmallHome(tmp_path / "home"), [], ServingFile.extend

    def extended(serving: ServingFile, table: type[Table], rows: pl.LazyFrame) -> None:
        written.extend(rows.select("outcome_id").collect()["outcome_id"] if table is CountedOutcomes else ())
        right(serving, table, rows)

    told = [
        outcome(f"o{day}", created_at=f"2026-03-0{day}T10:00:00Z", interaction_id="i1", strategy="one")
        for day in (1, 2, 3, 4)
    ]
    home.land(interaction("i1", created_at="2026-03-01T09:00:00Z"), *told[:3])
    home.nightly(datetime(2026, 3, 5))  # noqa: DTZ001 - as above
    home.land(told[3])
    with patch.object(ServingFile, "extend", extended):
        home.nightly(datetime(2026, 3, 6))  # noqa: DTZ001 - as above
    assert sorted(written) == ["o3", "o4"]
    with duckdb.connect(home.settings.current, read_only=True) as connection:
        asked = "SELECT outcome_id, is_deciding, as_of FROM counted_outcomes ORDER BY outcome_id"
        found = connection.execute(asked).fetchall()
    assert found == [(f"o{day}", day == 4, datetime(2026, 3, 6)) for day in (1, 2, 3, 4)]  # noqa: DTZ001 - as above
