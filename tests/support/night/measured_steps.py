"""Steps of a benchmark, each run by `measured.py` or `measured_peers.py` in a process of its own, and watched."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

_SUPPORT = Path(__file__).parent
_WATCH_SECONDS = 0.1
# What would make one run unlike another: settings of this shell, and of libraries the product has not set itself.
_NOT_PASSED_ON = ("SLOWWAVE_", "POLARS_", "OPENBLAS_", "OMP_", "MKL_", "NUMBA_", "RAYON_", "PYTHON")
_PINNED = {"PYTHONHASHSEED": "0", "DO_NOT_TRACK": "1"}


class TooLongError(Exception):
    """A step took more CPU time than it was given."""


def step(name: str, *arguments: object, most_cpu: int | None = None) -> dict[str, Any]:
    """Run a step; what it says, with `peak_mb` also over the processes it starts, and `cpu`.

    Raises TooLongError when a step that may take `most_cpu` seconds takes more.
    """
    script = _SUPPORT / ("measured.py" if name in {"logs", "limit", "night"} else "measured_peers.py")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(_NOT_PASSED_ON)}

    command = [sys.executable, str(script), name, *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**kept, **_PINNED}) as running:
        if most_cpu is not None:
            resource.prlimit(running.pid, resource.RLIMIT_CPU, (most_cpu, most_cpu))
        peak = 0.0
        while running.poll() is None:
            peak = max(peak, _held_mb(running.pid))
            time.sleep(_WATCH_SECONDS)
        assert running.stdout is not None
        said = running.stdout.read()
    if running.returncode < 0 and most_cpu is not None:
        raise TooLongError(name)
    if running.returncode:
        message = f"the step {name} failed"
        raise SystemExit(message)
    result = json.loads(said.splitlines()[-1])
    return {**result, "tree_peak_mb": max(peak, result["peak_mb"])}


def _held_mb(pid: int) -> float:
    """Resident memory of a process and its children, where /proc tells."""
    try:
        (line,) = (line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS"))
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except (OSError, ValueError):
        return 0.0
    return int(line.split()[1]) / 1024 + sum(_held_mb(int(child)) for child in children)
