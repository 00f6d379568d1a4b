"""Days as tasks: plain data, carried out by a process that has the lake and nothing else."""

from __future__ import annotations

import os
import pickle
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from small_home import SmallHome, interaction, memory

from slowwave.flows.engines.settings import EngineSettings
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.nightly.build import build
from slowwave.flows.nightly.nightly import make_plan, nightly, start_run
from slowwave.flows.publish import replay_inputs
from slowwave.flows.publish.build_tasks import BuildTask, build_tasks, replay, run_build_task
from slowwave.flows.publish.replay import batches_of_days, build_days
from slowwave.transforms.evidence.tables import MemoryReferences
from slowwave.transforms.graph import BUCKETED
from slowwave.transforms.landing.ledger_tables import Runs

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
        (_, small, _) = build_tasks(run.engine, run.run_id, plan.log, plan.to_build, verify=False)
        yield small


def test_tasks_are_plain_data_and_build_what_a_night_builds(home: SmallHome, tasks: list[BuildTask]) -> None:
    assert [str(task) for task in tasks] == [f"replay 2026-03-0{day}" for day in range(2, 8)]
    umask = os.umask(0o022)
    try:
        days = [run_build_task(pickle.loads(pickle.dumps(task))).days for task in tasks]  # noqa: S301 - our own
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


def test_days_are_dealt_alike_in_as_few_tasks_as_that_takes(home: SmallHome) -> None:
    with writer_lock(home.settings, "test"):
        plan = make_plan(start_run(home.settings, "nightly"), AS_OF)
    heavy = dict(zip((day.day for day in plan.to_build), (5, 1, 1, 1, 1, 5), strict=True))
    bytes_of = {day: size * 10**9 for day, size in heavy.items()}  # beside which eligible memories are little

    def dealt(most: int, parts: int) -> list[list[int]]:
        batches = batches_of_days(plan.log, plan.to_build, bytes_of, most * 10**9 + 10**8, parts)
        return [[heavy[day.day] for day in batch] for batch in batches]

    assert dealt(20, 1) == [[5, 1, 1, 1, 1, 5]]
    assert dealt(10, 1) == [[5, 1, 1], [1, 1, 5]]  # as many as fit, and as alike as can be
    assert dealt(20, 3) == [[5], [1, 1, 1, 1], [5]]
    assert dealt(2, 1) == [[5], [1, 1], [1, 1], [5]]  # a day is never divided here
    assert dealt(20, 9) == [[5], [1], [1], [1], [1], [5]]


def test_a_worker_that_reads_other_params_refuses(tasks: list[BuildTask]) -> None:
    other = replace(tasks[0].replay, params_hash="0" * 32)
    with pytest.raises(UserError, match="it reads the params otherwise than they were sent"):
        run_build_task(replace(tasks[0], replay=other))


def test_a_worker_without_the_lake_says_so(tasks: list[BuildTask], tmp_path: Path) -> None:
    elsewhere = replace(tasks[0].replay, lake=str(tmp_path / "elsewhere"))
    with pytest.raises(UserError, match=r"there is no lake in .*elsewhere there: mount it under the same path"):
        run_build_task(replace(tasks[0], replay=elsewhere))
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.slow
@pytest.mark.parametrize("at_once", [1_000, 4])
def test_a_day_in_buckets_is_the_day(home: SmallHome, monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    """Of two projects, one of them far larger; what was found before a kill is not looked for again."""
    monkeypatch.setattr(replay_inputs, "_MERGED_AT_ONCE", at_once)
    day = {"created_at": "2026-03-09T09:00:00Z"}
    said = "Prices are integers of the smallest coin of m1. Decision: we keep them so."
    home.land(memory("m2", project="blog"), *(interaction(f"j{n:02}", response=said, **day) for n in range(20)))
    home.land(*(interaction(f"k{n}", project="blog", response=said.replace("m1", "m2"), **day) for n in range(3)))
    with writer_lock(home.settings, "test"):
        run = start_run(home.settings, "nightly")
        run.engine = EngineSettings(memory=1_000_000)
        plan = make_plan(run, AS_OF)
        beginning, searching, joining = build_tasks(run.engine, run.run_id, plan.log, plan.to_build[-1:], verify=False)
        count = len(searching)
        assert [str(task) for task in beginning] == ["replay 2026-03-09, eligibility"]
        assert str(searching[-1]) == f"replay 2026-03-09, bucket {count} of {count}"
        assert count > 2
        assert [replay(plan.log, task) for task in (*beginning, *searching, *joining)] == [*[0] * (count + 1), 1]
        in_buckets = {path: rows for path, rows in evidence(home).items() if "." not in Path(path).stem}
        assert len(evidence(home)) == len(in_buckets) + len(BUCKETED) * count
        before = home.contents()
        assert [replay(plan.log, task) for task in searching] == [0] * count
        assert home.contents() == before
        for path in Path(home.settings.lake).glob("evidence/*/*/*"):
            path.unlink()
        assert build_days(plan.log, plan.to_build[-1:]) == 1
        at_a_time = evidence(home)
        assert at_a_time.keys() == in_buckets.keys()
        for path, content in in_buckets.items():
            assert pl.read_parquet(content).equals(pl.read_parquet(at_a_time[path]))
        assert at_once == 4 or at_a_time == in_buckets
        last = plan.days[-1]
        references = plan.log.lake.scan_evidence(MemoryReferences, {last.day: last.names[MemoryReferences.name]})
        assert references.collect().height == 23


@pytest.mark.slow
@pytest.mark.parametrize("memory_bytes", [4_000_000, 20_000_000])
def test_a_bound_of_memory_changes_no_table(home: SmallHome, tmp_path: Path, memory_bytes: int) -> None:
    said = "Prices are integers of the smallest coin of m1. Decision: we keep them so."
    day = {"created_at": "2026-03-09T09:00:00Z"}
    home.land(*(interaction(f"j{n:02}", project=["shop", "blog", ""][n % 3], response=said, **day) for n in range(30)))
    bounded = SmallHome(Path(shutil.copytree(home.folder, tmp_path / "bounded")))
    hashes, stages = [], []

    def noted(name: str, function: Callable[..., Any], *arguments: Any) -> Any:
        stages.append(name)
        return function(*arguments)

    for each, engine in ((home, EngineSettings()), (bounded, EngineSettings(memory=memory_bytes))):
        with writer_lock(each.settings, "nightly"):
            run = start_run(each.settings, "nightly", call=noted)
            run.engine = engine
            result = nightly(run, as_of=AS_OF)
        published = run.lake.ledger(Runs).filter(pl.col("run_id") == result.run_id)
        hashes.append(published["table_hashes"].item().to_list())
    assert len([name for name in stages if ", bucket " in name]) > 2
    assert hashes[0] == hashes[1]
