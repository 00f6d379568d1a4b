"""The flows on a real Prefect server: states, tasks, retries, artifacts, and the schedules of `slowwave serve`."""

from __future__ import annotations

import gc
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import duckdb
import pytest

from slowwave.flows.kernel.errors import AuditFailedError, UserError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.lake.lake import Lake
from slowwave.flows.publish import serving
from slowwave.flows.publish.serving import audits
from slowwave.flows.schedule.server import prefect_api
from slowwave.transforms.landing.ledger_tables import Runs

pytestmark = [
    pytest.mark.slow,  # Prefect's server takes long to start; what its tasks do is tested without it
    pytest.mark.prefect,
    # Prefect's client leaves its connections to the garbage collector
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]

PATIENCE = 600  # seconds for what comes by itself, however busy the machine is
MEMORY = {"memory_id": "m1", "changed_at": "2026-03-01", "status": "active", "content": "Use tabs in every Makefile"}
INTERACTION = {"created_at": "2026-03-05", "prompt": "How?", "response": "use tabs in every makefile"}


@pytest.fixture(scope="module")
def flows(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """The module of flows, with the server that the commands start as well."""
    home = tmp_path_factory.mktemp("prefect") / "home"
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("PREFECT_")]:
            patch.delenv(name)
        patch.setenv("SLOWWAVE_HOME", str(home))
        patch.setenv("PREFECT_HOME", str(home / "prefect"))
        with prefect_api(Settings(home)):
            from slowwave.flows.schedule import flows as orchestrate

            yield orchestrate
    gc.collect()  # here, where those connections are excused


@pytest.fixture
def home(tmp_path: Path) -> Path:
    deliver(tmp_path, "a.jsonl", MEMORY, INTERACTION)
    return tmp_path


def deliver(home: Path, name: str, *rows: dict[str, Any]) -> None:
    aside = home / "inbox" / f"{name}.tmp"
    aside.parent.mkdir(exist_ok=True)
    aside.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    aside.rename(home / "inbox" / name)


def last_run(name: str) -> Any:
    """The newest flow run of a flow, as the server has it."""
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.filters import FlowFilter, FlowFilterName
    from prefect.client.schemas.sorting import FlowRunSort

    with get_client(sync_client=True) as client:
        (run,) = client.read_flow_runs(
            flow_filter=FlowFilter(name=FlowFilterName(any_=[name])), sort=FlowRunSort.START_TIME_DESC, limit=1
        )
    return run


def tasks_of(run: Any, last: tuple[str, str]) -> list[tuple[str, str]]:
    """Names and states of the task runs of a flow run, by start; they reach the database a moment after the run.

    They are waited for until all have ended, and one of this name and state is among them.
    """
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterId

    deadline = time.monotonic() + PATIENCE
    while True:
        with get_client(sync_client=True) as client:
            found = client.read_task_runs(flow_run_filter=FlowRunFilter(id=FlowRunFilterId(any_=[run.id])))
        tasks = [(task.name, task.state_name or "") for task in sorted(found, key=_start)]
        is_all = last in tasks and all(task.state and task.state.is_final() for task in found)
        if is_all or time.monotonic() > deadline:
            return tasks
        time.sleep(0.2)


def _start(task: Any) -> float:
    return task.start_time.timestamp() if task.start_time else 0.0


def artifact(key: str) -> Any:
    from prefect.artifacts import Artifact

    return cast("Any", Artifact.get(key))


# ------------------------------------------------------------------------------------------------------------- flows


def test_nightly_runs_its_stages_as_tasks_and_reports(flows: ModuleType, home: Path) -> None:
    result = flows.nightly(home=str(home), as_of="2026-03-10")
    assert result.status == "published"
    run = last_run("nightly")
    assert (run.name, run.state_name) == ("nightly as of 2026-03-10", "Completed")
    wanted = ["land", "plan", "replay 2026-03-05", "publish", "swap", "prune", "report"]
    wait_until(lambda: len(tasks_of(run, ("report", "Completed"))) == len(wanted))
    assert tasks_of(run, ("report", "Completed")) == [(name, "Completed") for name in wanted]
    summary = artifact("nightly-summary").data
    assert "published as of 2026\\-03\\-10 00\\:00\\:00Z" in summary
    assert "2 rows delivered \\= 2 accepted" in summary
    assert artifact("nightly-progress").data == 100.0
    assert result.report == str(home / "reports" / f"{result.run_id}.html")
    assert (home / "reports" / "latest.html").read_text().startswith("<!doctype html>")
    with duckdb.connect(home / "serving" / "current.duckdb", read_only=True) as connection:
        assert connection.sql("SELECT memory_id, echoed_count FROM memory_health").fetchall() == [("m1", 1)]


def test_land_and_backfill(flows: ModuleType, home: Path) -> None:
    assert flows.land(home=str(home)).total("accepted") == 2
    assert last_run("land").state_name == "Completed"
    result = flows.backfill(first=date(2026, 3, 1), last=date(2026, 3, 31), home=str(home))
    assert (result.status, [day.day for day in result.built]) == ("built", [date(2026, 3, 5)])
    assert last_run("backfill").name == "backfill 2026-03-01 to 2026-03-31"
    assert not (home / "serving" / "current.duckdb").exists()
    assert [row["kind"] for row in Lake(home / "lake").ledger(Runs).sort("run_id").to_dicts()] == ["land", "backfill"]


def test_a_failed_audit_fails_the_flow_without_a_stack_trace(
    flows: ModuleType, home: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    flows.nightly(home=str(home), as_of="2026-03-10")
    before = (home / "serving" / "current.duckdb").readlink()
    strict = replace(audits()[0], name="always", severity="fail", sql="SELECT '<b>[x](http://x)' AS found")
    monkeypatch.setattr(serving, "audits", lambda: [strict])
    deliver(home, "b.jsonl", {**INTERACTION, "created_at": "2026-03-06"})
    with pytest.raises(AuditFailedError):
        flows.nightly(home=str(home), as_of="2026-03-10")
    run = last_run("nightly")
    assert run.state_name == "Failed"
    assert ("publish", "Failed") in tasks_of(run, ("publish", "Failed"))
    assert (home / "serving" / "current.duckdb").readlink() == before
    assert "\\<" not in artifact("nightly-summary").data
    assert "&lt;b&gt;\\[x\\]\\(http\\:\\/\\/x\\)" in artifact("nightly-summary").data
    said = capfd.readouterr()
    assert "Traceback" not in said.out + said.err
    assert said.out == ""


def test_a_flow_waits_for_another_writer_only_so_long(
    flows: ModuleType, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flows, "WAIT_SECONDS", 0.5)
    code = (
        "import sys; from pathlib import Path; from slowwave.flows.kernel.lock import writer_lock;"
        "from slowwave.flows.kernel.settings import Settings\n"
        f"with writer_lock(Settings(Path({str(home)!r})), 'land'): print('held', flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert holder.stdout
    holder.stdout.readline()
    with pytest.raises(UserError, match=f"`slowwave land` \\(process {holder.pid} on "):
        flows.nightly(home=str(home))
    holder.communicate("")
    assert last_run("nightly").state_name == "Failed"
    assert Lake(home / "lake").ledger(Runs).is_empty()


# ------------------------------------------------------------------------------------------------------------- tasks


@pytest.fixture
def in_a_flow(flows: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Any]], Any]:
    """Runs a function inside a flow run, with short waits between the attempts of a task."""
    from prefect import flow

    monkeypatch.setattr(flows, "stage", flows.stage.with_options(retry_delay_seconds=[0, 0]))
    return lambda body: flow(name="trial", persist_result=False)(body)()


def failing(times: int, error: Exception) -> Callable[[], int]:
    """A stage that fails some times and then returns how often it was called."""
    calls = 0

    def stage() -> int:
        nonlocal calls
        calls += 1
        if calls <= times:
            raise error
        return calls

    return stage


def test_an_io_fault_is_tried_again_and_no_more_than_twice(
    flows: ModuleType, in_a_flow: Callable[[Callable[[], Any]], Any], capfd: pytest.CaptureFixture[str]
) -> None:
    assert in_a_flow(lambda: flows.run_as_task("swap", failing(2, OSError(5, "I/O")))) == 3
    full = failing(99, OSError(28, "No space left on device"))
    with pytest.raises(OSError, match="No space left"):
        in_a_flow(lambda: flows.run_as_task("swap", full))
    assert "Traceback" not in capfd.readouterr().err
    with pytest.raises(OSError, match="No space left"):
        full()


@pytest.mark.parametrize("error", [UserError("mend it"), ValueError("a bug")])
def test_other_faults_are_not_tried_again(
    flows: ModuleType, in_a_flow: Callable[[Callable[[], Any]], Any], error: Exception
) -> None:
    once = failing(1, error)
    with pytest.raises(type(error), match=str(error)):
        in_a_flow(lambda: flows.run_as_task("plan", once))
    assert once() == 2


def test_a_landing_is_not_tried_again(
    flows: ModuleType, in_a_flow: Callable[[Callable[[], Any]], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    once = failing(1, OSError(5, "I/O"))
    monkeypatch.setattr(flows.plain, "land_inbox", once)
    with pytest.raises(OSError, match="I/O"):
        in_a_flow(lambda: flows.run_as_task("land", once))
    assert once() == 2


def test_summaries_hold_no_markup_of_their_content(flows: ModuleType) -> None:
    hostile = "<script>|`x`|![i](http://e.example/i.png) www.e.example *b* \x1b[2J\n# h"
    markdown = flows.summary_markdown("t", [("why", hostile)])
    (row,) = [line for line in markdown.splitlines() if line.startswith("| why")]
    assert not re.search(r"(?<!\\)[\[\](`*_#!:/.]|<|\x1b", row)
    assert len(re.findall(r"(?<!\\)\|", row)) == 3


# --------------------------------------------------------------------------------------------------------- schedules


@pytest.mark.slow
def test_serve_lands_and_publishes_until_it_is_told_to_stop(tmp_path: Path) -> None:
    home, aside = tmp_path / "home", tmp_path / "aside"
    aside.mkdir()
    home.mkdir()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    environment |= {"SLOWWAVE_HOME": str(home), "TZ": "Pacific/Auckland"}
    command = [
        sys.executable,
        "-m",
        "slowwave.flows.cli.main",
        "serve",
        "--timezone",
        "Europe/Berlin",
        "--land-minutes",
        "1",
    ]
    log = (tmp_path / "log").open("w+")
    serve = subprocess.Popen(command, env=environment, cwd=aside, stdout=log, stderr=log)
    try:
        wait_until(lambda: "runs     http://" in (tmp_path / "log").read_text(), serve)
        said = (tmp_path / "log").read_text()
        assert re.search(r"in Europe/Berlin, next \d{4}-\d\d-\d\d 0[01]:00:00Z \(02:00 CES?T\)", said)
        deliver(home, "a.jsonl", MEMORY, INTERACTION)
        wait_until(lambda: "land: landed 1 file: 2 rows" in (tmp_path / "log").read_text(), serve)
        assert not list((home / "inbox").iterdir())
        url = (home / "prefect" / "serve.url").read_text()
        trigger = "from prefect.deployments import run_deployment; run_deployment('nightly/schedule', timeout=0)"
        subprocess.run([sys.executable, "-c", trigger], env={**environment, "PREFECT_API_URL": url}, check=True)
        wait_until(lambda: "nightly: published as of" in (tmp_path / "log").read_text(), serve)
        second = subprocess.run(command, env=environment, cwd=aside, capture_output=True, text=True, check=False)
        assert second.returncode == 1
        who = f"slowwave: `slowwave serve` (process {serve.pid} on "
        assert second.stderr.splitlines()[-1].startswith(who)
        server = children(serve.pid)
        assert server
        serve.send_signal(signal.SIGTERM)
        assert serve.wait(PATIENCE) == 0
        wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in server))
    finally:
        serve.kill()
        serve.wait()
        log.close()
    said = (tmp_path / "log").read_text()
    assert "Traceback" not in said
    assert "Warning" not in said
    with sqlite3.connect(home / "prefect" / "prefect.db") as database:
        assert database.execute("SELECT count(*) FROM flow_run WHERE state_type = 'SCHEDULED'").fetchall() == [(0,)]
    database.close()
    with duckdb.connect(home / "serving" / "current.duckdb", read_only=True) as connection:
        assert connection.sql("SELECT memory_id, echoed_count FROM memory_health").fetchall() == [("m1", 1)]


@pytest.mark.slow
def test_serve_ends_when_its_server_does(tmp_path: Path) -> None:
    """Else nothing would be landed any more, and nobody would know."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    said = tmp_path / "log"
    with said.open("w") as log:
        serve = subprocess.Popen(
            [sys.executable, "-m", "slowwave.flows.cli.main", "serve"],
            env=environment | {"SLOWWAVE_HOME": str(tmp_path / "home")},
            cwd=tmp_path,
            stdout=log,
            stderr=log,
        )
    try:
        wait_until(lambda: "runs     http://" in said.read_text(), serve)
        (server,) = children(serve.pid)
        os.kill(server, signal.SIGKILL)
        assert serve.wait(PATIENCE) == 1
    finally:
        serve.kill()
        serve.wait()
    last = said.read_text().splitlines()[-1]
    assert last.startswith("slowwave: Prefect's server has ended (-9), so no schedule runs: see ")


def wait_until(is_so: Callable[[], bool], process: subprocess.Popen[bytes] | None = None) -> None:
    deadline = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < deadline, "waited in vain"
        assert process is None or process.poll() is None, "the process has ended"
        time.sleep(0.2)


def children(pid: int) -> list[int]:
    """The processes that a process has started and that still run."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
