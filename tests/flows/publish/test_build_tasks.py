"""Days as tasks: plain data, carried out by a process that has the lake and nothing else."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from small_home import SmallHome, interaction, memory

from slowwave.flows.engines.settings import EngineSettings
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.nightly.nightly import build, make_plan, start_run
from slowwave.flows.publish.build_tasks import BuildTask, build_tasks, built

AS_OF = datetime(2026, 4, 1)  # noqa: DTZ001 - naive times hold UTC


@pytest.fixture
def home(tmp_path: Path) -> SmallHome:
    made = SmallHome(tmp_path / "home")
    made.land(memory("m1"), *(interaction(f"i{day}", created_at=f"2026-03-0{day}T09:00:00Z") for day in range(2, 8)))
    return made


def evidence(home: SmallHome) -> dict[str, bytes]:
    lake = Path(home.settings.lake)
    return {str(path.relative_to(lake)): path.read_bytes() for path in sorted(lake.glob("evidence/*/*/*.parquet"))}


@pytest.fixture
def tasks(home: SmallHome) -> Iterator[list[BuildTask]]:
    with writer_lock(home.settings, "test"):
        run = start_run(home.settings, "nightly")
        run.engine = EngineSettings("dask", workers=2)
        plan = make_plan(run, AS_OF)
        yield build_tasks(run, plan.log, plan.to_build, verify=False)


def test_tasks_are_plain_data_and_build_what_a_night_builds(home: SmallHome, tasks: list[BuildTask]) -> None:
    assert [str(task) for task in tasks] == [f"replay 2026-03-0{day}" for day in range(2, 8)]
    umask = os.umask(0o022)
    try:
        days = [built(pickle.loads(pickle.dumps(task))).days for task in tasks]  # noqa: S301 - our own
    finally:
        assert os.umask(umask) == 0o022
    by_tasks = evidence(home)
    assert days == [1] * len(tasks)
    assert {path.stat().st_mode & 0o777 for path in Path(home.settings.lake).glob("evidence/*/*/*")} == {0o600}
    for path in Path(home.settings.lake).glob("evidence/*/*/*"):
        path.unlink()
    run = start_run(home.settings, "nightly")
    assert len(build(run, make_plan(run, AS_OF))) == len(tasks)
    assert evidence(home) == by_tasks


def test_a_worker_that_reads_other_params_refuses(tasks: list[BuildTask]) -> None:
    other = replace(tasks[0].replay, params_hash="0" * 32)
    with pytest.raises(UserError, match="it reads the params otherwise than they were sent"):
        built(replace(tasks[0], replay=other))


def test_a_worker_without_the_lake_says_so(tasks: list[BuildTask], tmp_path: Path) -> None:
    elsewhere = replace(tasks[0].replay, lake=str(tmp_path / "elsewhere"))
    with pytest.raises(UserError, match=r"there is no lake in .*elsewhere there: mount it under the same path"):
        built(replace(tasks[0], replay=elsewhere))
    assert not (tmp_path / "elsewhere").exists()
