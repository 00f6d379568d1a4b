"""Dask and Ray for real, two processes of each on this machine: the same tables, whatever becomes of a worker."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import pytest
import worker_acts
from bucket_server import environment, make_bucket, s3_server

from slowwave.data.sample import sample_files
from slowwave.flows.care.surroundings import engine_line
from slowwave.flows.engines.cluster import Cluster
from slowwave.flows.engines.engine import TIMES, Engine, Workers, opened_cluster
from slowwave.flows.engines.settings import EngineName, EngineSettings
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.nightly.nightly import make_plan, nightly, start_run
from slowwave.flows.nightly.screen import result_lines
from slowwave.flows.publish.build_tasks import build_tasks
from slowwave.flows.publish.replay import days_bytes
from tests.laws.home import Home

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # of Dask and Ray, which are not ours to mend
# Dask gives a task to another worker by itself where a nanny tells of the end before the connection does, and one to a
# worker that is gone where neither has told of it yet.
AT_MOST = 2 * TIMES
AS_OF = datetime(2026, 3, 6)  # noqa: DTZ001 - naive times hold UTC


@pytest.fixture(scope="module", autouse=True)
def _no_script_of_others() -> Iterator[None]:
    """Streamlit's tests leave a script of theirs as the main module: a process that is started would run it again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "__main__", ModuleType("__main__"))
        yield


@pytest.fixture(scope="module", params=get_args(EngineName)[1:])
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster[Any]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(worker_acts.__file__).parent))
        with opened_cluster(EngineSettings(request.param, workers=2)) as opened:
            yield opened


@pytest.fixture
def engine(cluster: Cluster[Any]) -> Engine:
    return Workers(cluster, seconds=300)


@pytest.fixture
def marked(tmp_path: Path) -> worker_acts.Marked:
    (tmp_path / "tries").mkdir()
    return worker_acts.Marked(str(tmp_path / "tries"))


@pytest.mark.parametrize(("work", "seconds"), [(worker_acts.dies_once, 300), (worker_acts.sleeps_once, 40)])
def test_a_worker_that_dies_or_hangs_does_not_stop_the_rest(cluster, marked, work, seconds: int) -> None:
    (times,) = Workers(cluster, seconds).results(work, [marked])
    assert 2 <= times <= AT_MOST
    assert sorted(Workers(cluster, 300).results(abs, [-3, -2, -1])) == [1, 2, 3]


@pytest.mark.parametrize(
    ("work", "why"), [(worker_acts.dies, "its worker ended"), (worker_acts.finds_no_folder, "No such file")]
)
def test_what_fails_three_times_is_an_error(engine: Engine, marked: worker_acts.Marked, work, why: str) -> None:
    with pytest.raises(UserError, match=f"the marked task was tried 3 times on the workers, and failed: .*{why}"):
        list(engine.results(work, [marked]))
    assert 1 < len(list(Path(marked.tries).iterdir())) <= AT_MOST


@pytest.fixture(scope="module")
def landed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = Home(tmp_path_factory.mktemp("landed") / "home")
    for file in sample_files(days=4, interactions_per_day=30):
        home.drop(file.name, file.content)
    home.land_inbox()
    return home.folder


@pytest.fixture(scope="module")
def expected(landed: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What is published where nothing but this process computes."""
    home = Home(Path(shutil.copytree(landed, tmp_path_factory.mktemp("expected") / "home", symlinks=True)))
    home.nightly(AS_OF)
    return home.hashes()


def test_killed_workers_leave_whole_partitions_and_the_same_tables(
    engine: Engine, landed: Path, expected: dict[str, str], tmp_path: Path
) -> None:
    home = Home(Path(shutil.copytree(landed, tmp_path / "home", symlinks=True)))
    chance = random.Random(1)
    with writer_lock(home.settings, "test"):
        run = start_run(home.settings, "backfill")
        plan = make_plan(run, AS_OF)
        largest = max(days_bytes(plan.log, plan.to_build).values())
        run.engine = EngineSettings("dask", workers=2, memory=8 * largest)  # a sixteenth is half of that day
        rounds = build_tasks(run.engine, run.run_id, plan.log, plan.to_build, verify=False)
        assert [len(tasks) > 0 for tasks in rounds] == [True, True, True]
        built = 0
        for tasks in rounds:
            killed = [worker_acts.Killed(task, str(tmp_path / str(task)), chance.uniform(0, 1.5)) for task in tasks]
            built += sum(each.days for each in engine.results(worker_acts.built_in_the_end, killed))
    assert built == len(plan.to_build)
    result = home.nightly(AS_OF)
    assert (result.status, result.built) == ("published", [])
    assert home.hashes() == expected
    assert list(home.lake.root.glob("evidence/*/*/*.parquet")) != []


def test_workers_build_a_lake_in_a_bucket(expected: dict[str, str], tmp_path: Path) -> None:
    with s3_server() as port, pytest.MonkeyPatch.context() as patch:
        make_bucket(port, "team")
        for variable, value in environment(port, "s3://team/lake").items():
            patch.setenv(variable, value)
        home = Home(tmp_path / "home")
        for file in sample_files(days=4, interactions_per_day=30):
            home.drop(file.name, file.content)
        with writer_lock(home.settings, "nightly"):
            run = start_run(home.settings, "nightly")
            run.engine = EngineSettings("dask", workers=2)
            result = nightly(run, as_of=AS_OF)
        assert (result.status, len(result.built)) == ("published", len(result.plan.days))
        assert ("", "by workers of dask") in result_lines(home.settings, result)
        assert home.hashes() == expected


def test_a_scheduler_without_workers_is_seen_by_doctor(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0"]
    settings = Settings(tmp_path)
    with subprocess.Popen([*command, "--no-dashboard"], stderr=subprocess.PIPE, text=True) as scheduler:
        try:
            lines = iter(scheduler.stderr.readline, "") if scheduler.stderr else iter(())
            address = next(found[0] for line in lines if (found := re.search(r"tcp://[\d.]+:\d+", line)))
            settings.settings_file.write_text(f"[engine]\nengine = 'dask'\naddress = '{address}'\n")
            line = engine_line(settings)
        finally:
            scheduler.kill()
    assert (line.state, line.says) == (
        "error",
        f"dask answers at {address}: 0 tasks at once, 4 GB each",
    )
    assert engine_line(settings).says.startswith(f"no cluster of dask answers at {address}")
