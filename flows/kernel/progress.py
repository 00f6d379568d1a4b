"""Progress of a run on standard error, and lines with a label on standard output."""

from __future__ import annotations

import shlex
import shutil
import sys
import textwrap
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from slowwave.flows.kernel import checks as check_lines
from slowwave.flows.kernel.terminal import shorten_to_width, terminal_safe

Lines = list[tuple[str, str]]

_PHASES = {
    "ask": "asking",
    "plan": "planning",
    "replay": "replaying",
    "publish": "publishing",
    "compare": "comparing",
    "import": "importing",
}
_SECONDS_BETWEEN_LINES = 10.0
_LABEL_WIDTH = 13


def phase_of(label: str) -> str:
    """Which phase of a run a progress label belongs to; labels of landing are names of files."""
    return _PHASES.get(label, "landing")


class Screen:
    """Progress on standard error: bars where that is a terminal, else a short line per phase and every ten seconds."""

    def __init__(self) -> None:
        self._console = Console(stderr=True, markup=False, highlight=False, emoji=False)
        self._bars: Progress | None = None
        self._phase = ""
        self._last = 0.0

    def __enter__(self) -> Screen:
        if self._console.is_terminal:
            self._bars = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                TextColumn("{task.fields[detail]}", markup=False),
                TimeElapsedColumn(),
                console=self._console,
                transient=True,
            )
            self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Take the bars away, before a result is printed."""
        if self._bars is not None:
            self._bars.stop()
            self._bars = None

    def note(self, text: str) -> None:
        """A line of its own, such as whom we wait for."""
        line = f"slowwave: {terminal_safe(text)}"
        if self._bars is not None:
            self._console.print(Text(line), soft_wrap=True)
        else:
            with suppress(OSError):  # nobody reads it any more: that is no reason to stop a night half-way
                sys.stderr.write(f"{line}\n")
                sys.stderr.flush()

    def progress(self, label: str, done: int, total: int) -> None:
        """What is being done, and how much of it is done (`total` 0: not known)."""
        phase = phase_of(label)
        is_new, self._phase = phase != self._phase, phase
        if self._bars is not None:
            if is_new:
                for bar in self._bars.task_ids:
                    self._bars.remove_task(bar)
                self._bars.add_task(phase, total=None, detail="")
            detail = (
                shorten_to_width(terminal_safe(label), 40)
                if phase == "landing"
                else f"{done} of {total}"
                if total
                else ""
            )
            self._bars.update(self._bars.task_ids[-1], completed=done, total=total or None, detail=detail)
        elif is_new or time.monotonic() - self._last >= _SECONDS_BETWEEN_LINES:
            self._last = time.monotonic()
            self.note(phase + (f": {done} of {total}" if total and phase in {"asking", "replaying"} else ""))


def print_lines(title: str, lines: Lines, commands: Sequence[str] = ()) -> None:
    """Print a title, labelled lines and commands to run next on standard output; commands are never broken."""
    console = check_lines.screen()
    if title:
        console.print(Text(terminal_safe(title), style="bold"), soft_wrap=True)
    indent = " " * _LABEL_WIDTH
    for label, text in lines:
        # a path that is too long stays whole, as a command does: it is to be copied
        width = console.width - _LABEL_WIDTH
        parts = textwrap.wrap(terminal_safe(text), width, break_long_words=False, break_on_hyphens=False) or [""]
        console.print(Text.assemble((f"{label:<{_LABEL_WIDTH}}", "bold"), f"\n{indent}".join(parts)), soft_wrap=True)
    for at, command in enumerate(commands):
        label = "" if at else "next"
        console.print(
            Text.assemble((f"{label:<{_LABEL_WIDTH}}", "bold"), (terminal_safe(command), "cyan")), soft_wrap=True
        )


def this_command() -> str:
    """How the user calls us: by name where that works, else by the path that was used."""
    called = sys.argv[0]
    is_path = Path(called).name == "slowwave" and shutil.which("slowwave") != called
    return shlex.quote(called) if is_path else "slowwave"
