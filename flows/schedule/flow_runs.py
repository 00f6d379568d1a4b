"""Flow runs beside one's own: those whose process was killed, and those that wait since an outage.

A run that is made holds a lock on a file named after it, which the kernel frees however its process ends. So the next
run knows which of Prefect's runs are `Running` by name only, and removes the files of those that have ended.
"""

from __future__ import annotations

import fcntl
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

from slowwave.flows.kernel.settings import Settings

if TYPE_CHECKING:
    from prefect.client.orchestration import SyncPrefectClient

_KILLED = "its process was killed, or the machine went down: `slowwave status` says how far it had come"
_LATE = "it was due before another run of its deployment began, which did the work of both"


_held: list[int] = []


def mark_as_running(settings: Settings, flow_run_id: str) -> None:
    """Hold the file of a flow run until this process ends: how the run ended is known to Prefect's server before."""
    path = _folder(settings) / flow_run_id
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(handle, fcntl.LOCK_EX)
    _held.append(handle)


def crash_killed_runs(settings: Settings) -> list[str]:
    """Mark as crashed the flow runs whose process has ended without saying so; return their names."""
    dead = [path for path in sorted(_folder(settings).glob("*-*")) if _is_free(path)]
    if not dead:
        return []
    from prefect.client.orchestration import get_client

    with get_client(sync_client=True) as client:
        return [name for path in dead if (name := _crash(client, path))]


def _folder(settings: Settings) -> Path:
    return settings.prefect_home / "running"


def _is_free(path: Path) -> bool:
    try:
        handle = os.open(path, os.O_RDWR)
    except FileNotFoundError:  # it has just ended
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    else:
        return True
    finally:
        os.close(handle)


def _crash(client: SyncPrefectClient, path: Path) -> str:
    """Mark a flow run and its tasks as crashed; return its name, '' where it has ended or is not known any more."""
    from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterId
    from prefect.exceptions import ObjectNotFound
    from prefect.states import Crashed

    flow_run_id = UUID(path.name)
    name = ""
    try:
        run = client.read_flow_run(flow_run_id)
    except ObjectNotFound:
        run = None
    if run is not None and run.state is not None and not run.state.is_final():
        of_run = FlowRunFilter(id=FlowRunFilterId(any_=[flow_run_id]))
        for each in client.read_task_runs(flow_run_filter=of_run):
            if each.state is not None and not each.state.is_final():
                client.set_task_run_state(each.id, Crashed(message=_KILLED), force=True)
        client.set_flow_run_state(flow_run_id, Crashed(message=_KILLED), force=True)
        name = run.name
    path.unlink(missing_ok=True)
    return name


def cancel_late_runs(flow_run_id: str) -> int:
    """Cancel the runs like this one that were due before now and have not begun; return how many.

    Like this one are those of its deployment with its parameters: after an outage they would find nothing to do.
    """
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.filters import (
        DeploymentFilter,
        DeploymentFilterId,
        FlowRunFilter,
        FlowRunFilterExpectedStartTime,
        FlowRunFilterState,
        FlowRunFilterStateType,
    )
    from prefect.client.schemas.objects import StateType
    from prefect.states import Cancelled

    waiting = FlowRunFilter(
        state=FlowRunFilterState(type=FlowRunFilterStateType(any_=[StateType.SCHEDULED])),
        expected_start_time=FlowRunFilterExpectedStartTime.model_validate({"before_": datetime.now(UTC)}),
    )
    cancelled: set[UUID] = set()
    with get_client(sync_client=True) as client:
        own = client.read_flow_run(UUID(flow_run_id))
        if own.deployment_id is None:
            return 0
        siblings = DeploymentFilter(id=DeploymentFilterId(any_=[own.deployment_id]))
        while True:
            found = client.read_flow_runs(flow_run_filter=waiting, deployment_filter=siblings)
            late = {run.id for run in found if run.parameters == own.parameters} - cancelled
            if not late:
                return len(cancelled)
            for each in late:
                client.set_flow_run_state(each, Cancelled(message=_LATE), force=True)
            cancelled |= late
