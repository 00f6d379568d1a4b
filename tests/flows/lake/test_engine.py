"""What is small is collected in memory, what is large streams, and nothing published tells which."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from slowwave.data.sample import write_sample
from slowwave.flows.lake import lake
from slowwave.flows.land.demo_home import midnight_after
from tests.laws.home import Home

DAYS = 3


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("log")
    write_sample(folder, seed=7, days=DAYS)
    return folder


def published(home: Home, log: Path) -> dict[str, str]:
    home.land(log)
    home.nightly(midnight_after(DAYS))
    return home.hashes()


@pytest.mark.slow
def test_streamed_or_not_the_values_are_the_same(tmp_path: Path, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_memory = published(Home(tmp_path / "small"), log)
    monkeypatch.setattr(lake, "_SMALL_BYTES", 0)
    assert published(Home(tmp_path / "large"), log) == in_memory


def test_the_choice_ends_with_the_run(tmp_path: Path) -> None:
    before = os.environ.get("POLARS_ENGINE_AFFINITY")
    with lake.suited_engine(Home(tmp_path).lake):
        assert os.environ["POLARS_ENGINE_AFFINITY"] == "in-memory"
    assert os.environ.get("POLARS_ENGINE_AFFINITY") == before
