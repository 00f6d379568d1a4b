"""The receiver beside something else: a child that ends with who began it, and is begun again if it ends itself."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from urllib.parse import urlsplit

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.processes import end_child
from slowwave.flows.kernel.settings import Settings

_STOP_SECONDS = 15
_AGAIN_SECONDS = 5


@contextmanager
def capturing(settings: Settings, options: Sequence[str], note: Callable[[str], None]) -> Iterator[str]:
    """The address of a receiver with these options, for as long as the context lasts; `note` is told if it began anew.

    It begins anew at the same address, which those who post to it know. The kernel closes its standard input however we
    end, and with that it ends. Raises UserError where it cannot begin.
    """
    child = _Child(settings, options, note)
    address = child.begin()
    if not address:
        message = "rows are not taken in: `slowwave capture` says why"
        raise UserError(message)
    watching = threading.Thread(target=child.watch, daemon=True)
    watching.start()
    try:
        yield address
    finally:
        child.end()
        watching.join()
        child.let_go()


class _Child:
    """The process, whichever it is now."""

    def __init__(self, settings: Settings, options: Sequence[str], note: Callable[[str], None]) -> None:
        self._settings = settings
        self._given = options
        self._options = options
        self._note = note
        self._is_over = threading.Event()
        self._changes = threading.Lock()
        self._process: subprocess.Popen[str] | None = None

    def begin(self) -> str:
        """Start it, unless it is to end; its address, '' where it ended before it had one."""
        with self._changes:
            if self._is_over.is_set():
                return ""
            self._process = process = subprocess.Popen(  # noqa: S603 - our own command
                [sys.executable, "-m", "slowwave.flows.cli.main", "capture", "--until-input-ends", *self._options],
                env={**os.environ, "SLOWWAVE_HOME": str(self._settings.home)},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                start_new_session=True,  # Ctrl-C is for us
            )
        address = process.stdout.readline().strip() if process.stdout else ""
        if address:
            self._options = [*self._given, "--port", str(urlsplit(address).port)]
        return address

    def watch(self) -> None:
        """Begin it again when it ends by itself, after some seconds."""
        while (process := self._process) is not None:
            process.wait()
            if self._is_over.wait(_AGAIN_SECONDS):
                return
            self.let_go()
            address = self.begin()
            if not self._is_over.is_set():
                again = f"had ended, and takes rows again at {address}" if address else "has ended"
                self._note(f"capture  {again}")

    def end(self) -> None:
        """Let it answer what was posted, and end."""
        with self._changes:
            self._is_over.set()
        if self._process is not None:
            end_child(self._process, _STOP_SECONDS)

    def let_go(self) -> None:
        """Close what led to it; it has ended."""
        for pipe in (self._process.stdin, self._process.stdout) if self._process else ():
            if pipe is not None:
                pipe.close()
