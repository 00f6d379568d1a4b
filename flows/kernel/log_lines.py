"""Lines on standard error as JSON, one object each, where `SLOWWAVE_LOG=json` asks for it and nobody sits before it."""

from __future__ import annotations

import io
import json
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Literal, TextIO

Level = Literal["info", "error"]


class JsonLines(io.TextIOBase):
    """A stream that writes each whole line written to it as one object to another stream."""

    def __init__(self, stream: TextIO, command: str) -> None:
        self._stream = stream
        self._command = command
        self._lock = threading.RLock()
        self._rest = ""
        self.level: Level = "info"

    def write(self, text: str) -> int:
        """Write the lines that are whole now."""
        with self._lock:
            *lines, self._rest = (self._rest + text).split("\n")
            for line in lines:
                self._write_line(line)
        return len(text)

    def _write_line(self, line: str) -> None:
        if not line.strip():
            return
        said = {
            "at": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%f}Z",
            "level": self.level,
            "command": self._command,
            "pid": os.getpid(),
            "message": line.removeprefix("slowwave: "),
        }
        self._stream.write(f"{json.dumps(said)}\n")
        self._stream.flush()

    def flush(self) -> None:
        """Flush the other stream; a line that is not whole yet waits."""
        self._stream.flush()

    def end_line(self) -> None:
        """Write what is left as a line."""
        if self._rest:
            self.write("\n")

    def fileno(self) -> int:
        """The other stream's: a child process writes there, as it does without this."""
        return self._stream.fileno()

    def writable(self) -> bool:
        """Whether it can be written to."""
        return True


@contextmanager
def log_form(command: str) -> Iterator[bool]:
    """Write standard error in the form that `SLOWWAVE_LOG` asks for, as long as the context lasts; whether it is JSON.

    Where a fault ends it, it stays JSON: Python then writes the stack trace.
    """
    plain = sys.stderr
    if os.environ.get("SLOWWAVE_LOG", "").strip().lower() != "json" or plain.isatty():
        yield False
        return
    sys.stderr = lines = JsonLines(plain, command)
    try:
        yield True
    except Exception:
        lines.level = "error"
        raise
    except BaseException:
        _restore(plain, lines)
        raise
    else:
        _restore(plain, lines)


def _restore(plain: TextIO, lines: JsonLines) -> None:
    lines.end_line()
    sys.stderr = plain


@contextmanager
def level_of_lines(level: Level) -> Iterator[None]:
    """Say that what is written to standard error in the context is of this level, where that is written as JSON."""
    stream = sys.stderr
    if not isinstance(stream, JsonLines):
        yield
        return
    before, stream.level = stream.level, level
    try:
        yield
    finally:
        stream.level = before
