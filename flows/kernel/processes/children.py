"""Processes of our own that serve us over their standard input: they end when it does."""

from __future__ import annotations

import subprocess
from contextlib import suppress


def end_child(process: subprocess.Popen[str] | subprocess.Popen[bytes], seconds: float) -> None:
    """Close its standard input, by which it ends; it is killed where it has not after so many seconds."""
    if process.stdin is not None:
        with suppress(BrokenPipeError):  # it has ended, and took not all that was said
            process.stdin.close()
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
