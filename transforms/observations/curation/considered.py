"""The memories that a decision is about: those most alike, active just before, and what the new text is to each."""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from slowwave.transforms.observations.pairs.relation import Relation
from slowwave.transforms.observations.settled import change_relation, downgrade_relation
from slowwave.transforms.observations.states.changes import StateChange
from slowwave.transforms.observations.work.changes import work_changes


class Considered(NamedTuple):
    """A memory that was active just before: its text, when it said it last, how alike in 1/10,000 it is to the new one.

    `place`: among the items of the log. `said_at`: in microseconds. `relation`: what the new one is to it.
    `replaced_by`: the places of others, considered with it, that changed what it says.
    """

    place: int
    memory_id: str
    content: str
    normal: int
    said_at: int
    similarity: int
    relation: Relation
    replaced_by: frozenset[int] = frozenset()


def with_changes(met: dict[int, list[Considered]], said: pl.DataFrame) -> dict[int, list[Considered]]:
    """Return what each row of `said` met, with the changes of state between all that it met and its own text.

    They relate the texts as `observe_memories` relates those of active memories.
    """
    asked = said[[*met]].select(pl.Series("scope", [*met], dtype=pl.Int64), pl.col("from").alias("first_at"), "content")
    known = [(row, one.said_at, one.content) for row, considered in met.items() for one in considered]
    places = [(row, one.place) for row, considered in met.items() for one in considered]
    about = pl.DataFrame(known, {**asked.schema, "first_at": pl.Int64}, orient="row").cast(asked.schema)
    stated = pl.concat([about, asked]).with_columns(
        pl.int_range(pl.len()).alias("statement"), pl.col("first_at").alias("last_at")
    )
    replaced: dict[tuple[int, int], StateChange] = {}
    replaced_by: dict[tuple[int, int], set[int]] = {}
    for change in work_changes(stated.select("statement", "scope", "first_at", "last_at", "content")):
        if change.earlier is None or change.earlier >= len(places):
            continue
        if change.later >= len(places):
            replaced.setdefault(places[change.earlier], change)
        else:
            replaced_by.setdefault(places[change.earlier], set()).add(places[change.later][1])

    def apply_change(row: int, one: Considered) -> Considered:
        change = replaced.get((row, one.place))
        found = downgrade_relation(one.relation) if change is None else change_relation(change)
        return one._replace(relation=found, replaced_by=frozenset(replaced_by.get((row, one.place), ())))

    return {row: [apply_change(row, one) for one in considered] for row, considered in met.items()}
