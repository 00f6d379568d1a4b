"""The deployments of `deploy/prefect.yaml`, with a Prefect server and a worker apart from each other and from us."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from slowwave.flows.lake.lake import Lake
from slowwave.transforms.landing.ledger_tables import Runs

pytestmark = [pytest.mark.slow, pytest.mark.prefect]  # starts a server and a worker

DEPLOYMENTS = Path(__file__).resolve().parents[3] / "deploy" / "prefect.yaml"
PREFECT = [sys.executable, "-m", "prefect"]
PATIENCE = 600  # seconds for what comes by itself, however busy the machine is
ROWS = (
    {"memory_id": "m1", "changed_at": "2026-03-01", "status": "active", "content": "Use tabs in every Makefile"},
    {"created_at": "2026-03-05", "prompt": "How?", "response": "use tabs in every makefile"},
)


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[dict[str, str]]:
    """What reaches a Prefect server of its own, which ends with the test."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PREFECT_", "SLOWWAVE_"))}
    kept |= {"PREFECT_HOME": str(tmp_path / "client"), "PREFECT_SERVER_ANALYTICS_ENABLED": "false", "DO_NOT_TRACK": "1"}
    server = subprocess.Popen(
        [*PREFECT, "server", "start", "--host", "127.0.0.1", "--port", port, "--no-ui"],
        env=kept | {"PREFECT_HOME": str(tmp_path / "server")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    url = f"http://127.0.0.1:{port}/api"
    try:
        wait_for_answer(url, server)
        yield kept | {"PREFECT_API_URL": url}
    finally:
        server.terminate()
        server.wait(PATIENCE)


def wait_for_answer(url: str, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        assert server.poll() is None
        try:
            httpx.get(f"{url}/health", timeout=PATIENCE)
        except httpx.TransportError:
            assert time.monotonic() < deadline
            time.sleep(0.3)
        else:
            return


def ask(environment: dict[str, str], path: str, **body: Any) -> Any:
    answer = httpx.post(f"{environment['PREFECT_API_URL']}/{path}", json=body, timeout=PATIENCE)
    return answer.raise_for_status().json()


def run_prefect(environment: dict[str, str], *arguments: str) -> str:
    done = subprocess.run([*PREFECT, *arguments], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def scheduled(due: datetime) -> dict[str, Any]:
    return {"type": "SCHEDULED", "state_details": {"scheduled_time": due.isoformat()}}


def test_a_worker_makes_one_night_of_those_that_wait_since_an_outage(
    environment: dict[str, str], tmp_path: Path
) -> None:
    home = tmp_path / "home"
    (home / "inbox").mkdir(parents=True)
    (home / "inbox" / "a.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    run_prefect(environment, "work-pool", "create", "slowwave", "--type", "process")
    run_prefect(environment, "--no-prompt", "deploy", "--all", "--prefect-file", str(DEPLOYMENTS))
    found = {
        f"{each['entrypoint'].split(':')[1]}/{each['name']}": each for each in ask(environment, "deployments/filter")
    }
    assert found.keys() == {
        "nightly/schedule",
        "land/inbox",
        *(f"{flow}/by-hand" for flow in ("backfill", "report", "prune", "publish_to")),
    }
    shown = found["nightly/schedule"]["parameter_openapi_schema"]["properties"]
    assert all(each["description"] for each in shown.values())
    late = [datetime.now(UTC).replace(hour=2, minute=0, second=0) - timedelta(days=days) for days in (3, 2, 1)]
    create = f"deployments/{found['nightly/schedule']['id']}/create_flow_run"
    for due in late:
        ask(environment, create, state=scheduled(due))
    other = ask(environment, create, state=scheduled(late[-1]), parameters={"as_of": "2026-03-10"})
    run_prefect(
        environment | {"SLOWWAVE_HOME": str(home)},
        "worker",
        "start",
        "--pool",
        "slowwave",
        "--limit",
        "1",
        "--run-once",
    )
    nights = ask(environment, "flow_runs/filter", deployments={"id": {"any_": [found["nightly/schedule"]["id"]]}})
    ended = [night for night in nights if night["state_type"] != "SCHEDULED" and night["id"] != other["id"]]
    assert {night["state_name"] for night in nights if night["id"] == other["id"]} != {"Cancelled"}
    assert sorted(night["state_name"] for night in ended) == ["Cancelled", "Cancelled", "Completed"]
    (made,) = [night for night in ended if night["state_name"] == "Completed"]
    assert made["name"] in {f"nightly {due:%Y-%m-%d} 02:00 UTC" for due in late}
    assert made["tags"] == ["slowwave"]
    lines = ask(environment, "logs/filter", logs={"flow_run_id": {"any_": [made["id"]]}})
    assert any(line["message"].startswith("landed: 1 file: 2 rows delivered = 2 accepted") for line in lines)
    statuses = [run["status"] for run in Lake(home / "lake").ledger(Runs).to_dicts() if run["kind"] == "nightly"]
    assert statuses.count("published") == len(statuses) <= 2  # of those that are alike one, and perhaps the other
