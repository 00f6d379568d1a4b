"""Answers about one user, one agent or one tag: the published tables as only those memories leave them."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import duckdb

from slowwave.flows.errors import UserError
from slowwave.flows.query_connection import OTHER_RELEASE, is_of_another_release

if TYPE_CHECKING:
    import polars as pl

# How a dashboard tells its pages and the processes that answer for them.
ENVIRONMENT = "SLOWWAVE_ONLY_ABOUT"
# What a table says of whom, by the first of its columns that tells; of memories their own agent, not that of an
# interaction. A table that has none of these columns is of nobody, and stays whole.
_OF_MEMORIES = {
    "memory_id": "memory_id IN (SELECT memory_id FROM temp.memory_health)",
    "memory_ids": "list_has_any(memory_ids, (SELECT list(memory_id) FROM temp.memory_health))",
}
_OF_AGENTS = {"agent": "agent = (SELECT agent FROM temp.asked_about)"}
_MEMORIES = """
SELECT h.*
FROM {published} AS h, temp.asked_about AS asked
WHERE
    (asked.user_id IS NULL OR h.user_id = asked.user_id)
    AND (asked.agent IS NULL OR h.agent = asked.agent)
    AND (asked.tag IS NULL OR list_contains(h.tags, asked.tag))
"""
_COLUMNS = """
SELECT table_name, list(column_name)
FROM duckdb_columns()
WHERE database_name = current_database() AND schema_name = 'main' AND NOT internal
GROUP BY table_name
ORDER BY table_name
"""


@dataclass(frozen=True)
class Narrowed:
    """What is asked about; None: whoever, whatever."""

    user: str | None = None
    agent: str | None = None
    tag: str | None = None

    def __bool__(self) -> bool:
        return (self.user, self.agent, self.tag) != (None, None, None)

    def __str__(self) -> str:
        """In words; '' where nothing is left out."""
        said = (("user", self.user), ("agent", self.agent), ("tag", self.tag))
        return ", ".join(f"{name} {value!r}" for name, value in said if value is not None)

    def environment(self) -> dict[str, str]:
        """What `narrowed_by` reads it from again."""
        return {ENVIRONMENT: json.dumps(asdict(self))} if self else {}


EVERYTHING = Narrowed()


def narrowed_by(environment: Mapping[str, str] = os.environ) -> Narrowed:
    """What a process is asked about by its environment."""
    return Narrowed(**json.loads(environment.get(ENVIRONMENT) or "{}"))


def narrow(connection: duckdb.DuckDBPyConnection, narrowed: Narrowed) -> None:
    """Let every later query of this connection see only what is asked about, under the published tables' own names.

    Memories are those whose `user_id`, `agent` and `tags` are asked for; what is told of memories, that of these; what
    is told of agents (strategies, anti-patterns, attempts), that of the agent. All else stays whole.

    Raises UserError where the file was published by a release that knew no users.
    """
    if not narrowed:
        return
    # texts go in as values: views can only name them
    asked = "SELECT $user::VARCHAR AS user_id, $agent::VARCHAR AS agent, $tag::VARCHAR AS tag"
    connection.execute(f"CREATE TEMP TABLE asked_about AS {asked}", asdict(narrowed))
    ((database,),) = connection.execute("SELECT current_database()").fetchall()
    tables = connection.execute(_COLUMNS).fetchall()
    try:
        _view(connection, "memory_health", _MEMORIES.format(published=_named(database, "memory_health")))
    except duckdb.Error as error:
        if is_of_another_release(error):
            raise UserError(OTHER_RELEASE) from error
        raise
    for table, columns in tables:
        told = next((_OF_MEMORIES[name] for name in _OF_MEMORIES if name in columns), None)
        if told is None and narrowed.agent is not None:
            told = next((_OF_AGENTS[name] for name in _OF_AGENTS if name in columns), None)
        if told is not None and table != "memory_health":
            _view(connection, table, f"SELECT * FROM {_named(database, table)} WHERE {told}")  # noqa: S608 - quoted


def landed_about(frames: Mapping[str, pl.LazyFrame], narrowed: Narrowed) -> dict[str, pl.LazyFrame]:
    """The landed rows by the names they have in SQL, as far as they are about whom is asked.

    Of interactions and outcomes those of the user and the agent; an outcome that names none is of its interaction's. Of
    memories all changes of those that have now, by the log, this user, this agent and this tag. A tag is no
    interaction's: these stay whole then.
    """
    if not narrowed:
        return dict(frames)
    asked = {"user_id": narrowed.user, "agent": narrowed.agent}
    of_whom = {name: text for name, text in asked.items() if text is not None}
    about = {
        "interactions": lambda frame: frame.filter(**of_whom) if of_whom else frame,
        "outcomes": lambda frame: _outcomes_about(frame, frames["interactions"], of_whom),
        "memories": lambda frame: frame.join(_memories_about(frames["memories"], narrowed), on="memory_id", how="semi"),
    }
    return {name: about[name.removesuffix("_log")](frame) for name, frame in frames.items()}


def _outcomes_about(outcomes: pl.LazyFrame, interactions: pl.LazyFrame, of_whom: Mapping[str, str]) -> pl.LazyFrame:
    import polars as pl  # slow to load, and these frames have loaded it

    if not of_whom:
        return outcomes
    theirs = interactions.select("interaction_id", *[pl.col(name).alias(f"its_{name}") for name in of_whom])
    known = [pl.coalesce(name, f"its_{name}") == pl.lit(text) for name, text in of_whom.items()]
    return (
        outcomes.join(theirs, on="interaction_id", how="left").filter(known).select(outcomes.collect_schema().names())
    )


def _memories_about(memories: pl.LazyFrame, narrowed: Narrowed) -> pl.LazyFrame:
    import polars as pl

    from slowwave.transforms.memory_states import memory_states

    of_whom = {"user_id": narrowed.user, "agent": narrowed.agent}
    known = [pl.col(name) == pl.lit(text) for name, text in of_whom.items() if text is not None]
    known += [pl.col("tags").list.contains(pl.lit(narrowed.tag))] if narrowed.tag is not None else []
    now = memory_states(memories).filter(pl.col("valid_until").is_null())
    return now.filter(known).select("memory_id")


def _view(connection: duckdb.DuckDBPyConnection, name: str, sql: str) -> None:
    connection.execute(f"CREATE TEMP VIEW {_named(name)} AS {sql}")


def _named(*parts: str) -> str:
    if len(parts) > 1:
        parts = (parts[0], "main", *parts[1:])
    return ".".join('"' + part.replace('"', '""') + '"' for part in parts)
