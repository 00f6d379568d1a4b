"""What memories did to outcomes is read some days at a time, and is the same however many days are read together."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import duckdb
import polars as pl
import pytest
from small_home import MEMORY, SmallHome, interaction, memory, outcome

from slowwave.flows.lake.current import current_run
from slowwave.flows.publish import day_reader

AS_OF = datetime(2026, 3, 9)  # noqa: DTZ001 - UTC
ASKED = "SELECT * EXCLUDE (run_id) FROM memory_health ORDER BY memory_id"


def landed(home: SmallHome) -> None:
    """A week in which memories were offered and some interactions ended; one has moved to another day since."""
    home.land(*(memory(name, confidence=0.5) for name in ("m1", "m2")))
    for day in range(2, 8):
        asked = [
            interaction(
                f"i{day}-{hour}",
                created_at=f"2026-03-0{day}T{hour:02}:00:00Z",
                session_id=f"s{day}-{hour}",
                response=f"{MEMORY[:-1]} of m{1 + hour % 2}.",
                memories_used=[f"m{1 + hour % 2}"],
                injection_probability=0.5,
                memories_offered=[{"id": "m1", "rank": 1, "score": 0.5}, {"id": "m2", "rank": 2, "score": hour / 24}],
            )
            for hour in range(8, 16)
        ]
        ended = [
            outcome(
                f"o{row['interaction_id']}", interaction_id=row["interaction_id"], created_at=row["created_at"],
                success=number % 3 > 0,
            )
            for number, row in enumerate(asked)
            if number % 4
        ]  # fmt: skip
        home.land(*asked, *ended)
    home.land(interaction("i2-9", created_at="2026-03-05T09:30:00Z", recorded_at="2026-03-06T00:00:00Z"))


def health(home: SmallHome) -> pl.DataFrame:
    home.nightly(AS_OF, full=True)
    path = current_run(home.settings)
    assert path is not None
    with duckdb.connect(path, read_only=True) as connection:
        return connection.sql(ASKED).pl()


@pytest.mark.slow
def test_it_is_the_same_however_many_days_are_read_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = SmallHome(tmp_path / "home")
    landed(home)
    together = health(home)
    assert together["confirmed_count"].sum() > 0
    assert together["lift_basis"].to_list() == ["randomised"] * 2
    monkeypatch.setattr(day_reader, "_KEYS_BYTES", 1)
    assert health(home).equals(together)
