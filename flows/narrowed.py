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
    """The landed rows by the names they have in SQL; of interactions those of the user and the agent asked about."""
    of = {"user_id": narrowed.user, "agent": narrowed.agent}
    asked = {name: text for name, text in of.items() if text is not None}
    return {
        name: frame.filter(**asked) if asked and name.startswith("interactions") else frame
        for name, frame in frames.items()
    }


def _view(connection: duckdb.DuckDBPyConnection, name: str, sql: str) -> None:
    connection.execute(f"CREATE TEMP VIEW {_named(name)} AS {sql}")


def _named(*parts: str) -> str:
    if len(parts) > 1:
        parts = (parts[0], "main", *parts[1:])
    return ".".join('"' + part.replace('"', '""') + '"' for part in parts)
