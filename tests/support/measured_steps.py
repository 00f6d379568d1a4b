"""Benchmark steps, each run by `measured.py` in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Measured:
    """Seconds and peak memory of one step in a process of its own."""

    seconds: float
    peak_mb: float


def step(name: str, home: Path, argument: str = "") -> Measured:
    """Run a step of `measured.py`."""
    script = Path(__file__).with_name("measured.py")
    command = [sys.executable, script, name, home, argument]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ})
    said = json.loads(done.stdout.splitlines()[-1])
    return Measured(said["seconds"], said["peak_mb"])


def printed(label: str, value: str) -> None:
    """A line of the table."""
    print(f"  {label:<72} {value}")
