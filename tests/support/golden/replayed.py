"""Small random logs, as rows for the plain model and as frames for the transforms."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

import memory_model as model
import polars as pl
from hypothesis import strategies as st

from slowwave.transforms.core.frames import Frame
from slowwave.transforms.core.schema import polars_schema
from slowwave.transforms.evidence.eligibility import memory_eligibility
from slowwave.transforms.evidence.memory_days import memory_days
from slowwave.transforms.evidence.references import memory_references
from slowwave.transforms.evidence.states import memory_pool, memory_states, states_over_time
from slowwave.transforms.evidence.tables import MemoryEligibility, MemoryReferences
from slowwave.transforms.evidence.used.memories import USED
from slowwave.transforms.health.tables import MemoryHealth
from slowwave.transforms.landing.tables import Memories
from slowwave.transforms.params import Params

Row = dict[str, Any]

START = datetime(2026, 3, 10, 22)  # noqa: DTZ001 - times are naive and hold UTC everywhere
EVER = datetime(9999, 1, 1)  # noqa: DTZ001 - as START
PARAMS = Params()
_OF_MEMORY_OUTCOMES = (
    "memory_id", "confirmed_count", "contradicted_count", "contradicted_expected", "confidence", "confidence_low",
    "confidence_high", "lift", "lift_low", "lift_high", "lift_basis", "lift_detectable", "lift_q_value", "is_harmful",
    "lift_note", "lost_successes",
)  # fmt: skip
# Verdicts and use are told of elsewhere: here a memory has its counts.
NO_USE = pl.LazyFrame(schema={"memory_id": pl.String})
NONE_HELD = pl.LazyFrame(schema={"memory_id": pl.String, "is_held": pl.Boolean})
NO_OUTCOMES = pl.LazyFrame(schema={name: polars_schema(MemoryHealth)[name] for name in _OF_MEMORY_OUTCOMES})
NONE_USED = pl.DataFrame(schema=USED)
INTERACTION_SCHEMA = {
    "interaction_id": pl.String, "occurred_at": pl.Datetime("us"), "project": pl.String, "agent": pl.String,
    "session_id": pl.String, "user_id": pl.String, "prompt": pl.String, "response": pl.String,
    "response_summary": pl.String, "memories_used": pl.List(pl.String), "memories_cited": pl.List(pl.String),
    "reinforce": pl.Boolean,
}  # fmt: skip

# Few instants, around two midnights, so that changes and interactions often meet at the same one.
instants = st.integers(0, 9).map(lambda hours: START + timedelta(hours=3 * hours))
projects = st.sampled_from(["atlas", "atlas", "atlas", "", "../../etc"])
CONTENTS = (
    "the port is 8443", "The  Port\u00a0is 8443", "the port is 8443 in production", "port is 8443 in",
    "short", "", "İzmir Straße ΟΔΟΣ ist nah", "e\u0301\u0301\u0301 accents combine", "zero\u200bwidth is no space",
    "a b c d e f g h i j k l m n o p q r s t u v w x y z a b c d e f g h i j k l m n o p q r s t",
)  # fmt: skip
PIECES = (
    *CONTENTS,
    "the port",
    "is 8443",
    " ",
    "\r\n",
    "\x85",
    "\u2003",
    "ΟΔΟΣ",
    "the port is 8443\u200b",
    "\x1c",
    "x",
)
contents = st.sampled_from([*CONTENTS[:3] * 3, *CONTENTS])  # the first two are one text, found in the third
texts = st.lists(contents | st.sampled_from(PIECES), min_size=2, max_size=4).map(" ".join)
memory_ids = st.sampled_from(["m1", "m2", "m3"])


def _without_cleared(row: Row) -> Row:
    """What a change clears it does not state."""
    return {name: value for name, value in row.items() if name not in (row.get("clears") or ())}


# Most memories are there from the start, or the logs would say little of any.
stated = st.fixed_dictionaries(
    {
        "changed_at": st.just(START - timedelta(hours=1)),
        "memory_type": st.sampled_from(["identity", "knowledge"]),
        "project": projects,
        "content": contents,
        "status": st.just("active"),
        "confidence": st.sampled_from([None, 0.5, 0.97]),
    }
)
bases = st.dictionaries(memory_ids, stated, min_size=2, max_size=3).map(
    lambda rows: [{"memory_id": memory_id, **row} for memory_id, row in rows.items()]
)
later = st.lists(
    st.fixed_dictionaries(
        {"memory_id": memory_ids, "changed_at": instants},
        optional={
            "memory_type": st.sampled_from([None, "", "identity", "preference", "knowledge"]),
            "project": st.none() | projects,
            "agent": st.sampled_from([None, "", "coder"]),
            "content": st.none() | contents,
            "status": st.sampled_from([None, "", "active", "active", "active", "archived"]),
            "confidence": st.sampled_from([None, 0.0, 0.5, 0.97, 1.0]),
            "pinned": st.sampled_from([None, True, False]),
            "source_ids": st.sampled_from([None, [], ["s1", "s2"]]),
            "superseded_by": st.sampled_from([None, "", "m2"]),
            "scope": st.sampled_from([None, "", "agent", "agent", "project", "global"]),
            "user_id": st.sampled_from([None, "", "ada", "ada"]),
            "tags": st.sampled_from([None, [], ["a", "b"]]),
            "category": st.sampled_from([None, "", "style"]),
            "expires_at": st.none() | st.none() | instants,
            "clears": st.sampled_from([None, ["confidence"], ["pinned", "source_ids"], ["tags"], ["expires_at"]]),
        },
    ).map(_without_cleared),
    max_size=5,
    unique_by=lambda row: (row["memory_id"], row["changed_at"]),
)
changes = st.builds(operator.add, bases, later)
interactions = st.lists(
    st.fixed_dictionaries(
        {
            "occurred_at": instants,
            "project": projects,
            "agent": st.sampled_from(["coder", "coder", ""]),
            "session_id": st.sampled_from([None, "s"]),
            "user_id": st.sampled_from([None, "ada", "ada", "bob"]),
            "prompt": texts.map(lambda text: f"{text} ?"),
            "response": texts | texts | st.none(),
            "response_summary": st.none() | texts,
            "memories_used": st.none() | st.lists(memory_ids | st.just("never landed"), max_size=3),
            "memories_cited": st.none() | st.lists(memory_ids | st.just("only cited"), max_size=3),
            "reinforce": st.sampled_from([True, True, True, False]),
        }
    ),
    min_size=3,
    max_size=7,
).map(lambda rows: [{"interaction_id": f"i{n}", **row} for n, row in enumerate(rows)])


def memories_frame(rows: Sequence[Row]) -> pl.LazyFrame:
    """Winning changes, as `memory_states` takes them."""
    return pl.LazyFrame(rows, schema=polars_schema(Memories))


def interactions_frame(rows: Sequence[Row]) -> pl.DataFrame:
    """Interactions, as the evidence takes them."""
    return pl.DataFrame(rows, schema=INTERACTION_SCHEMA)


def pool_of(change_rows: Sequence[Row]) -> pl.DataFrame:
    """The memory pool of a change log."""
    states = states_over_time(memory_states(memories_frame(change_rows)), EVER)
    return memory_pool(states, PARAMS.evidence).collect()


def eligibility_of(interaction_rows: Sequence[Row], pool: pl.DataFrame) -> Frame[MemoryEligibility]:
    """memory_eligibility of these interactions, counted as one day."""
    return memory_eligibility(interactions_frame(interaction_rows).lazy(), pool.lazy()).collect()


def is_reached(row: Row, held: Row) -> bool:
    """Whether a row of the pool is about this interaction, whenever that was."""
    of_project = held["is_global"] or row["project"] == held["project"]
    of_agent = held["only_agent"] in {None, row.get("agent")}
    return of_project and of_agent and held["only_user"] in {None, row.get("user_id")}


def used_by(interaction_rows: Sequence[Row], pool: pl.DataFrame) -> pl.DataFrame:
    """Eligible pairs that `model.uses` says are used, with the columns of `used_memories`."""
    pairs = [
        (row["interaction_id"], held["memory_id"], 9418, None, None, "used/3")
        for row in interaction_rows
        for held in pool.iter_rows(named=True)
        if is_reached(row, held)
        and held["valid_from"] <= row["occurred_at"]
        and (held["valid_until"] is None or row["occurred_at"] < held["valid_until"])
        and model.uses(row, held["memory_id"])
    ]
    return pl.DataFrame(pairs, schema=USED, orient="row")


def references_of(
    interaction_rows: Sequence[Row],
    pool: pl.DataFrame,
    used: Callable[[Sequence[Row], pl.DataFrame], pl.DataFrame] = lambda *_: NONE_USED,
) -> Frame[MemoryReferences]:
    """memory_references of these interactions; unless `used` tells, none uses a memory in other words."""
    return memory_references(interactions_frame(interaction_rows), pool, used(interaction_rows, pool), PARAMS.evidence)


def days_of(
    interaction_rows: Sequence[Row],
    pool: pl.DataFrame,
    part: Callable[[Row], object] = lambda row: row["occurred_at"].date(),
) -> pl.DataFrame:
    """memory_days of the interactions, folded apart per `part` (the UTC day), stacked with `day`."""
    parts: dict[object, list[Row]] = {}
    for row in interaction_rows:
        parts.setdefault(part(row), []).append(row)
    stacked = [
        memory_days(
            eligibility_of(rows, pool).lazy(), references_of(rows, pool, used_by).lazy(), PARAMS.evidence
        ).with_columns(pl.lit(rows[0]["occurred_at"].date()).alias("day"))
        for rows in parts.values()
    ]
    empty = memory_days(eligibility_of([], pool).lazy(), references_of([], pool).lazy(), PARAMS.evidence).with_columns(
        day=pl.date(1, 1, 1)
    )
    return pl.concat([empty, *stacked]).collect()
