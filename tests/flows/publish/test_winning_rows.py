"""The rows that win are the same however many files they stand in, and whoever finds them."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from pathlib import Path
from shutil import copyfile
from typing import Any

import pytest
from polars.testing import assert_frame_equal
from small_home import SmallHome, interaction, memory, outcome

from slowwave.flows.lake.lake import Lake
from slowwave.flows.publish import log_as_of
from slowwave.flows.publish import replay_inputs as parts
from slowwave.flows.publish.day_reader import interactions_of, replay_inputs
from slowwave.flows.publish.log_as_of import LogAsOf
from slowwave.transforms.landing.tables import Interactions, Outcomes
from slowwave.transforms.params import Params

START = datetime(2026, 3, 1)  # noqa: DTZ001 - naive times hold UTC
NAMES = {Interactions: ("project", "response"), Outcomes: ("success", "error_message")}


def at(chance: random.Random, most_days: int = 12) -> str:
    return (START + timedelta(hours=chance.randrange(24 * most_days))).isoformat()


def answered(n: int, chance: random.Random) -> dict[str, Any]:
    when = at(chance)
    told = {"response": f"{n}", "project": chance.choice(["shop", "blog"])}
    return interaction(f"i{n}", created_at=when, recorded_at=max(when, at(chance, 20)), **told)


def ended(n: int, chance: random.Random) -> dict[str, Any]:
    return outcome(f"o{n}", created_at=at(chance), error_message=f"{n}")


def lived_in(folder: Path, seed: int) -> Lake:
    """A lake in which keys come again: another version, on the same day or on another, seen later or not yet."""
    chance, home = random.Random(seed), SmallHome(folder / "home")
    home.land(*(memory(f"m{n}", project=["shop", "blog"][n % 2], changed_at=at(chance)) for n in range(9)))
    for _ in range(2):
        home.land(*(answered(n, chance) for n in chance.sample(range(60), 40)))
        home.land(*(ended(n, chance) for n in chance.sample(range(60), 40)))
    lake = Lake(Path(home.settings.lake))
    twice = next(iter(lake.files(Interactions.name).values()))[0].path  # as a killed compaction leaves it
    copyfile(twice, twice.with_name(f"{'0' * 32}-{twice.stem.split('-')[1]}.parquet"))
    return lake


@pytest.mark.parametrize("seed", range(2))
def test_rows_that_stand_alone_need_not_be_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int):
    lake = lived_in(tmp_path, seed)
    for table, names in NAMES.items():
        found = []
        for many, size in ((1_000, 2**40), (1, 2**40), (1_000, 0)):
            monkeypatch.setattr(log_as_of, "_MANY_FILES", many)
            monkeypatch.setattr(log_as_of, "MANY_BYTES", size)
            log = LogAsOf(lake, START + timedelta(days=14), Params())
            found.append(log.winners(table, log.files(table), names).collect().sort(table.key))
        assert found[0].height == found[0].select(table.key).n_unique() > 30
        assert_frame_equal(found[0], found[1])
        assert_frame_equal(found[0], found[2])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_a_day_read_in_parts_is_what_it_is_when_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    lake = lived_in(tmp_path, seed)
    log = LogAsOf(lake, START + timedelta(days=14), Params())
    parted = LogAsOf(lake, START + timedelta(days=14), Params())
    rows = 0
    for day in log.files(Interactions):
        whole = replay_inputs(log, day, keep=False)
        with monkeypatch.context() as few:
            few.setattr(parts, "MANY_BYTES", 0)
            few.setattr(parts, "_ROWS_AT_ONCE", 3)
            found = replay_inputs(parted, day, keep=False)
            again = interactions_of(parted, day, found)
        assert whole.interactions is not None
        assert_frame_equal(again, whole.interactions, check_row_order=False, check_column_order=False)
        assert_frame_equal(found.eligibility, whole.eligibility)
        assert (found.fingerprint, found.times, found.rows_hash) == (whole.fingerprint, whole.times, whole.rows_hash)
        rows += again.height
    assert rows > 30
