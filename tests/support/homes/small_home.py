"""A small home, landed and published by the functions the commands call, and the commands themselves."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch

from slowwave.flows.cli import main as cli
from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.land.inbox import inbox_deliveries
from slowwave.flows.land.land import path_deliveries
from slowwave.flows.land.report import LandingReport
from slowwave.flows.nightly.nightly import NightlyResult, land_paths, nightly, start_run

Row = dict[str, Any]
MEMORY = "Prices are integers of the smallest coin."


def memory(memory_id: str, **fields: Any) -> Row:
    return {
        "memory_id": memory_id,
        "changed_at": "2026-03-01T08:00:00Z",
        "status": "active",
        "project": "shop",
        "content": f"{MEMORY[:-1]} of {memory_id}.",
        **fields,
    }


def interaction(interaction_id: str, **fields: Any) -> Row:
    return {
        "interaction_id": interaction_id,
        "created_at": "2026-03-02T09:00:00Z",
        "project": "shop",
        "prompt": "How are prices kept?",
        "response": "In a column.",
        **fields,
    }


def outcome(outcome_id: str, **fields: Any) -> Row:
    return {"outcome_id": outcome_id, "created_at": "2026-03-02T10:00:00Z", "success": True, **fields}


class SmallHome:
    """A home folder and what its owner does with it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.settings = Settings(folder)
        self._logs = 0

    def land(self, *rows: Row | str) -> LandingReport:
        """Land rows as one file from beside the home, and return what became of them; text is a line as it stands."""
        self._logs += 1
        log = self.folder.parent / f"{self.folder.name}-log-{self._logs}.jsonl"
        log.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows))
        with writer_lock(self.settings, "land"):
            return land_paths(start_run(self.settings, "land"), path_deliveries([str(log)]))

    def land_inbox(self) -> LandingReport:
        """Land what lies in the inbox, as a night does first."""
        with writer_lock(self.settings, "land"):
            return land_paths(start_run(self.settings, "land"), inbox_deliveries(self.settings.inbox))

    def nightly(self, as_of: datetime | None = None, *, full: bool = False) -> NightlyResult:
        """Publish."""
        with writer_lock(self.settings, "nightly"):
            return nightly(start_run(self.settings, "nightly"), as_of=as_of, full=full)

    def contents(self) -> dict[str, tuple[int, int]]:
        """Size and time of change of everything in the home: what any write would alter."""
        return {
            str(path.relative_to(self.folder)): (at.st_size, at.st_mtime_ns)
            for path in self.folder.rglob("*")
            for at in [path.lstat()]
        }

    def run(self, *arguments: str, before: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
        """Run a command in a process of its own, behind `before`."""
        return subprocess.run(
            [*before, sys.executable, "-m", "slowwave.flows.cli.main", *arguments],
            env={**os.environ, "SLOWWAVE_HOME": str(self.folder)},
            cwd=self.folder.parent,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def ask(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command in this process: what a process of its own says, without the time it takes to start."""
        done = self.ask_for_bytes(*arguments)
        return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())

    def ask_for_bytes(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        """Run a command in this process, and return what it writes as it stands."""
        written = io.BytesIO(), io.BytesIO()
        out, err = (io.TextIOWrapper(each, encoding="utf-8", write_through=True) for each in written)
        with (
            patch.dict(os.environ, {"SLOWWAVE_HOME": str(self.folder)}),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            code = cli._exit_code([*arguments])
        return subprocess.CompletedProcess(arguments, code, *(each.getvalue() for each in written))

    def run_unable_to_write(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command with the home read-only. Root ignores permissions, so it runs without that privilege."""
        before: list[str] = []
        if os.geteuid() == 0:
            drop = "-dac_override,-dac_read_search"
            before = [str(shutil.which("setpriv")), f"--bounding-set={drop}", f"--inh-caps={drop}"]
        folders = [self.folder, *(path for path in self.folder.rglob("*") if path.is_dir())]
        files = [path for path in self.folder.rglob("*") if path.is_file() and not path.is_symlink()]
        try:
            for path in [*files, *folders]:
                path.chmod(0o555 if path.is_dir() else 0o444)
            return self.run(*arguments, before=before)
        finally:
            for path in [*folders, *files]:
                path.chmod(0o755 if path.is_dir() else 0o644)
