"""What a process says of itself."""

from __future__ import annotations

import subprocess
import sys

from slowwave.flows.kernel.processes import peak_memory

_HOLD = "bytearray(b'x' * {})"
_SAY = "from slowwave.flows.kernel.processes import peak_memory; print(peak_memory())"


def test_what_the_starting_process_held_is_not_counted() -> None:
    """Else a small process that a large one starts counts as large for ever."""
    start = (
        f"import subprocess, sys; held = {_HOLD.format(700 * 2**20)}; subprocess.run([sys.executable, '-c', {_SAY!r}])"
    )
    said = subprocess.run([sys.executable, "-c", start], capture_output=True, text=True, check=True).stdout
    assert 5 * 2**20 < int(said) < 300 * 2**20


def test_what_was_held_and_freed_is_counted() -> None:
    said = subprocess.run(
        [sys.executable, "-c", f"{_HOLD.format(100 * 2**20)}; {_SAY}"], capture_output=True, text=True, check=True
    ).stdout
    assert int(said) > 200 * 2**20  # the bytes, and the array of them
    assert peak_memory() > 0
