"""Our processes: children that serve us over their standard input, threads, and memory that is given back."""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path


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


# With how many threads a command, and a worker that it starts, compute, and how they hold memory.
# With one: a night is thousands of small frames and products, for which further threads are waited for longer than
# they work. On two cores one of Polars, or one of BLAS, takes 7 % less CPU time for 100,000 interactions, and by the
# clock no more.

ONE_THREAD = {"POLARS_MAX_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
"""Variables that Polars and numpy's products read when they are loaded."""
COMPUTING = {**ONE_THREAD, "_RJEM_MALLOC_CONF": "dirty_decay_ms:10000,muzzy_decay_ms:10000"}
"""These, and what Polars' allocator (jemalloc) reads: that it keeps memory that is free for ten seconds.

Polars has it keep that for half a second; then the next step of a night asks for it again: of a night after a month of
others that is a tenth of all CPU time.
"""


def use_one_thread() -> None:
    """Compute with one thread where the environment says nothing else; what is loaded already goes on as it was."""
    for name, value in COMPUTING.items():
        os.environ.setdefault(name, value)


# Memory that was freed goes back to the system: glibc keeps it for the next time, which after landing never comes.

# Below, what is kept harms nobody.
_MUCH = 600 * 2**20


def peak_memory() -> int:
    """The most that this process has ever held, in bytes.

    Of `ru_maxrss` Linux counts also what the process that started it held, so that is asked only where nothing else is.
    """
    with suppress(OSError), Path("/proc/self/status").open(encoding="ascii", errors="replace") as status:
        for line in status:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 2**10
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 2**10


def has_held_much() -> bool:
    """Whether the process has ever held so much that giving back is worth its while."""
    return peak_memory() > _MUCH


def give_back() -> None:
    """Hand freed memory back where the process has ever held much; does nothing where the C library cannot."""
    if has_held_much():
        _trim()(0)


@cache
def _trim() -> Callable[[int], object]:
    return getattr(ctypes.CDLL(None), "malloc_trim", lambda _pad: None)
