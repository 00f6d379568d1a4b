"""Small memory logs and what is observed in them."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import polars as pl
from hypothesis import strategies as st

from slowwave.transforms.core.frames import Frame, empty, framed
from slowwave.transforms.core.schema import polars_schema
from slowwave.transforms.evidence.scopes import ScopeParams
from slowwave.transforms.evidence.states import memory_states
from slowwave.transforms.health.tables import MemoryHealth
from slowwave.transforms.landing.tables import Memories
from slowwave.transforms.observations.curation_decisions import curation_decisions
from slowwave.transforms.observations.observations import Observed, observe_memories
from slowwave.transforms.observations.params import ObservationParams

START = datetime(2026, 3, 1)  # noqa: DTZ001 - times are naive and hold UTC everywhere
AS_OF = START + timedelta(days=100)
PARAMS = ObservationParams()
Row = dict[str, Any]
DARK = ("User prefers dark mode", "The user prefers dark mode.", "the user prefers  DARK mode")


def toy_vectors(words: pl.Series) -> Any:
    """A vector of its own for each word: nothing is alike but what is the same; longer words weigh more."""
    rows = [np.random.default_rng(zlib.crc32(word.encode())).integers(-9, 10, 256) * len(word) for word in words]
    return np.array(rows, np.int16).reshape(len(words), 256)


def change(memory_id: str, content: str | None = None, *, day: float = 0, **fields: Any) -> Row:
    """A change of a memory, active unless said otherwise."""
    first = {} if content is None else {"content": content, "status": "active", "project": "shop"}
    return {"memory_id": memory_id, "changed_at": START + timedelta(days=day), **first, **fields}


def states_of(rows: Iterable[Row], scopes: ScopeParams | None = None) -> pl.DataFrame:
    """memory_states of a change log."""
    changes = pl.LazyFrame(list(rows), schema=polars_schema(Memories))
    return memory_states(changes, scopes or ScopeParams()).collect()


def health_of(rows: Iterable[Row]) -> Frame[MemoryHealth]:
    """memory_health with these fields, and nothing known otherwise."""
    base = {"confirmed_count": 0, "contradicted_count": 0, "reference_count": 0, "trend": "unproven"}
    given = [{**base, **row} for row in rows]
    return framed(
        MemoryHealth, pl.concat([empty(MemoryHealth), pl.DataFrame(given, schema=polars_schema(MemoryHealth))])
    )


def observed_in(rows: Iterable[Row], health: Iterable[Row] = (), as_of: datetime = AS_OF) -> Observed:
    """What is observed in a change log."""
    return observe_memories(states_of(rows), health_of(health), toy_vectors, as_of, PARAMS)


def observations_in(rows: Iterable[Row], health: Iterable[Row] = (), as_of: datetime = AS_OF) -> list[Row]:
    """Observations, by text."""
    return observed_in(rows, health, as_of).observations.sort("text").to_dicts()


def decisions_in(rows: Iterable[Row]) -> list[Row]:
    """curation_decisions in order of time."""
    return curation_decisions(states_of(rows), toy_vectors, PARAMS).sort("changed_at", "memory_id").to_dicts()


TEXTS = st.sampled_from([*DARK, "The API port is 8080", "The API port is 9090", "The API port is now 7070",
                         "Forget that the user prefers dark mode", "User lives in Munich", "User now lives in Berlin",
                         "The response cache is enabled", "The response cache is disabled", "", "?!",
                         "port"])  # fmt: skip
LOGS = st.lists(
    st.builds(
        lambda memory, text, day, sources, status: change(memory, text, day=day, source_ids=sources, status=status),
        st.sampled_from(["m1", "m2", "m3", "m4", "m5"]),
        TEXTS,
        st.integers(0, 5),
        st.sampled_from([None, [], ["a"], ["a", "b"], ["b", ""]]),
        st.sampled_from(["active", "active", "active", "archived", "candidate"]),
    ),
    max_size=9,
    unique_by=lambda row: (row["memory_id"], row["changed_at"]),
)
