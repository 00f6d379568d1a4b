"""With how many threads a command, and a worker that it starts, compute, and how they hold memory.

With one: a night is thousands of small frames and products, for which further threads are waited for longer than they
work. On two cores one of Polars, or one of BLAS, takes 7 % less CPU time for 100,000 interactions, and by the clock no
more.
"""

from __future__ import annotations

import os

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
