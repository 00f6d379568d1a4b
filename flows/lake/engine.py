"""Which of Polars' engines a run collects with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import polars as pl

from slowwave.flows.lake.lake import Lake
from slowwave.transforms.landing.tables import LANDED

# Of Parquet, which unpacks to a few times that: much less than the vectors of words take.
_SMALL_BYTES = 16 * 2**20


@contextmanager
def suited_engine(lake: Lake) -> Iterator[None]:
    """Inside, what is small is collected in memory: to begin to stream takes longer than to collect few rows.

    What is large streams, so that it need not be held at once. The values are the same.
    """
    files = (file for table in LANDED for of_day in lake.files(table.name).values() for file in of_day)
    with pl.Config() as config:
        if sum(file.size for file in files) < _SMALL_BYTES:
            config.set_engine_affinity("in-memory")
        yield
