"""Stores that are written by their own library, in an interpreter that has it: the helper's side of the conversation.

What is only looked at is a copy. So is what is opened first: a library that would change the tables of a store that
another version made is not let near it.
"""

from __future__ import annotations

import json
import os
import select
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from slowwave.flows.imports.sqlite_files import columns_by_table, sqlite_copy
from slowwave.flows.imports.units import UnreadableUnitError
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.processes import end_child
from slowwave.flows.kernel.terminal import shown_name, terminal_safe
from slowwave.flows.push import store_helper
from slowwave.flows.push.door import StoreChangedError
from slowwave.transforms.decisions.push import State

_ANSWER_SECONDS = 120.0


class LibraryDoor:
    """A store behind a helper; `python` None: this interpreter. `copies` false: it is more than the file at `path`."""

    def __init__(
        self, store: str, path: Path, *, python: str | None, config: str | None, writes: bool, copies: bool = True
    ) -> None:
        self._store, self._path, self._config = store, path, config or ""
        self._python = os.path.expanduser(python) if python else sys.executable  # noqa: PTH111 - may be no path
        self._aside: tempfile.TemporaryDirectory[str] | None = None
        self._process: subprocess.Popen[str] | None = None
        opened = path
        try:
            if copies:
                self._aside = tempfile.TemporaryDirectory(prefix="slowwave-push-")
                opened = self._copy_store(Path(self._aside.name) / "store.db")
            if writes and copies:
                self.close()  # no copy is left by whoever is killed while it writes
                opened = path
            if self._process is None:
                self._begin(opened)
        except BaseException:
            self.close()
            raise

    def _copy_store(self, aside: Path) -> Path:
        """A copy, behind the helper. Raises UserError where the library would change the store's tables."""
        try:
            with sqlite_copy(self._path) as copy, closing(sqlite3.connect(aside)) as made:
                before = columns_by_table(copy)
                copy.backup(made)
        except UnreadableUnitError as error:
            message = f"{shown_name(self._path)} {error}"
            raise UserError(terminal_safe(message)) from error
        version = self._begin(aside)
        with closing(sqlite3.connect(aside)) as opened:
            after = columns_by_table(opened)
        changed = sorted(table for table in before if set(after.get(table, ())) != set(before[table]))
        if changed:
            message = (
                f"{shown_name(self._path)} was made by another version than {version}, which would change its table "
                f"{changed[0]}: name the interpreter that your agent runs in, `python = …` of its connection in "
                "connections.toml, or let your agent open the store once"
            )
            raise UserError(terminal_safe(message))
        return aside

    def _begin(self, path: Path) -> str:
        """Start the helper; returns the version of the library. Raises UserError in words that say what to do."""
        command = [self._python, str(Path(store_helper.__file__)), self._store, str(path.absolute()), self._config]
        environment = {**os.environ, "PYTHONSAFEPATH": "1", "MEM0_TELEMETRY": "False"}
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the interpreter that the user names
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
                encoding="utf-8",
            )
        except OSError as error:
            message = f"{self._python} cannot be run: {error.strerror}: correct `python` in connections.toml"
            raise UserError(terminal_safe(message)) from error
        told = self._line()
        if "missing" in told:
            message = (
                f"{self._python} has no {told['missing']}: install it there, or name the interpreter that has it, "
                f'`python = "/path/of/venv/bin/python"` of its connection in connections.toml'
            )
        elif "untried" in told:
            message = f"{self._python} has {told['untried']}, with which this was not tried ({told['tried']} was)"
        elif "error" in told:
            message = f"{shown_name(self._path)} cannot be opened: {told['error']}"
        else:
            return str(told["version"])
        raise UserError(terminal_safe(message))

    def _line(self) -> dict[str, Any]:
        process = self._process
        if process is None or process.stdout is None:
            message = "the helper has ended"
            raise UserError(message)
        is_ready, _, _ = select.select([process.stdout], [], [], _ANSWER_SECONDS)
        line = process.stdout.readline() if is_ready else ""
        if not line:
            self._end()
            what = "ended" if is_ready else f"gave no answer for {_ANSWER_SECONDS:.0f} s"
            message = f"the library of {self._store}, run by {self._python}, {what}: run this again to go on"
            raise UserError(terminal_safe(message))
        return json.loads(line)

    def _ask_helper(self, question: dict[str, Any]) -> dict[str, Any]:
        if self._process is not None and self._process.stdin is not None:
            try:
                self._process.stdin.write(json.dumps(question) + "\n")
                self._process.stdin.flush()
            except BrokenPipeError:
                pass  # it has ended, which its answer tells
        told = self._line()
        if "error" in told:
            message = f"{shown_name(self._path)}: {told['error']}"
            raise UserError(terminal_safe(message))
        return told

    def states(self, memory_ids: Sequence[str]) -> dict[str, State]:
        """As in Door."""
        return self._ask_helper({"ids": list(memory_ids)})["states"]

    def write(self, memory_id: str, before: State, after: State) -> State:
        """As in Door."""
        told = self._ask_helper({"id": memory_id, "before": before, "after": after})
        if "changed" in told:
            raise StoreChangedError(told["changed"])
        return told["state"] or {}

    def patches(self, wanted: Sequence[tuple[str, str | None]]) -> list[str]:  # noqa: ARG002 - all can be written
        """As in Door: none."""
        return []

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        end_child(process, _ANSWER_SECONDS)
        if process.stdout is not None:
            process.stdout.close()

    def close(self) -> None:
        """As in Door."""
        self._end()
        aside, self._aside = self._aside, None
        if aside is not None:
            aside.cleanup()
