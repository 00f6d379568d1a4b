"""Answers about one project, user, agent or tag: the published tables as only those memories leave them."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import duckdb

from slowwave.flows.ask.connection import OTHER_RELEASE, is_of_another_release
from slowwave.flows.kernel.errors import UserError

if TYPE_CHECKING:
    import polars as pl

# How a dashboard tells its pages and the processes that answer for them.
ENVIRONMENT = "SLOWWAVE_ONLY_ABOUT"
_MEMORIES = """
SELECT h.*
FROM {published} AS h, temp.asked_about AS asked
WHERE
    (asked.user_id IS NULL OR h.user_id = asked.user_id)
    AND (asked.agent IS NULL OR h.agent = asked.agent)
    AND (asked.tag IS NULL OR list_contains(h.tags, asked.tag))
    AND (asked.project IS NULL OR coalesce(h.project, '') = asked.project)
"""
_OTHER_MEMORIES = """
SELECT h.memory_id
FROM {published} AS h, temp.asked_about AS asked
WHERE
    h.user_id IS DISTINCT FROM coalesce(asked.user_id, h.user_id)
    OR h.agent <> asked.agent
    OR coalesce(h.project, '') <> asked.project
"""
_OTHER_OUTCOMES = "SELECT * FROM {published} WHERE user_id <> (SELECT user_id FROM temp.asked_about)"
# Conditions on the rows of a table. What tells of several memories may quote each of them.
_KNOWN = "memory_id IN (SELECT memory_id FROM temp.memory_health)"
_ALL_KNOWN = (
    "list_has_any(memory_ids, (SELECT list(memory_id) FROM temp.memory_health)) AND NOT"
    " coalesce(list_has_any(memory_ids, (SELECT list(memory_id) FROM temp.other_memories)), false)"
)
_OF_AGENT = "agent = (SELECT agent FROM temp.asked_about)"
_OF_PROJECT = "project = (SELECT project FROM temp.asked_about)"
_TARGET_OF_PROJECT = "target_memory_id IS NULL OR target_memory_id IN (SELECT memory_id FROM temp.memory_health)"
_ITEM_IS_MEMORY = "item_id IN (SELECT memory_id FROM temp.memory_health)"
_OF_USER = "user_id = (SELECT user_id FROM temp.asked_about)"
# `scope` as it was when something was said: a memory may have been another user's then.
_SAID_TO_USER = (
    r"regexp_extract(scope, '(?s)^(?:[^@\\]|\\.)*@(.*)$', 1) IN ('', (SELECT user_id FROM temp.asked_about))"
)
_OF_ITEMS = {
    "review_statements": "item_id IN (SELECT item_id FROM temp.review_queue)",
    # of a candidate that stood in answers alone, the memory that became of it
    "review_decisions": f"CASE WHEN len(memory_ids) > 0 THEN {_ALL_KNOWN} ELSE {_ITEM_IS_MEMORY} END",
    "forgetting_audit": "CASE target_kind WHEN 'memory' THEN target IN (SELECT memory_id FROM temp.memory_health)"
    " ELSE target = (SELECT coalesce(project, target) FROM temp.asked_about) END",
}
# What stands for a text that may be another user's or of another project.
_LEFT_OUT = {
    # a reason may quote what it is about
    "quarantine": "'(left out: whose it is is not known)' AS raw_text,"
    """ regexp_replace(reason, '(?s)[:''"].*$', '…') AS reason""",
    "anti_patterns": "CASE WHEN (project, better_alternative_strategy_id) NOT IN"
    " (SELECT (project, strategy_id) FROM temp.other_outcomes WHERE strategy_id IS NOT NULL)"
    " THEN better_alternative END AS better_alternative",
    "scope_leaks": "NULL::VARCHAR AS user_id, '(left out)' AS interaction_scope",
    # of an answer that may be another user's
    "instruction_checks": "'(left out)' AS saw",
}
_LEFT_OUT["quarantine_resolved"] = _LEFT_OUT["quarantine"]
# The same, where a project is asked about: names of folders and keys of rows tell of others.
_LEFT_OUT_OF_PROJECT = {
    table: f"{_LEFT_OUT[table]}, '(left out)' AS source" for table in ("quarantine", "quarantine_resolved")
} | {"run_files": "'(left out)' AS source", "set_aside": "'(left out)' AS key, '(left out)' AS reason"}
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
    project: str | None = None

    def __bool__(self) -> bool:
        return self != EVERYTHING

    def __str__(self) -> str:
        """In words; '' where nothing is left out."""
        said = (("project", self.project), ("user", self.user), ("agent", self.agent), ("tag", self.tag))
        return ", ".join(f"{name} {value!r}" for name, value in said if value is not None)

    def environment(self) -> dict[str, str]:
        """What `narrowed_by` reads it from again."""
        return {ENVIRONMENT: json.dumps(asdict(self))} if self else {}


EVERYTHING = Narrowed()
# What `narrow` makes besides views of published tables.
HELPERS = frozenset({"asked_about", "other_memories", "other_outcomes"})


def narrowed_by(environment: Mapping[str, str] = os.environ) -> Narrowed:
    """What a process is asked about by its environment."""
    return Narrowed(**json.loads(environment.get(ENVIRONMENT) or "{}"))


def narrow(connection: duckdb.DuckDBPyConnection, narrowed: Narrowed) -> None:
    """Let every later query of this connection see only what is asked about, under the published tables' own names.

    Memories are those whose `project`, `user_id`, `agent` and `tags` are asked for, and what is shown of memories is of
    these; a candidate is that of its user. What is said of agents (strategies, anti-patterns, attempts) is that of the
    agent, what is said of projects that of the project. Of a user, what others' outcomes had part in is left out:
    its wording may be theirs. All else, which is figures, stays whole.

    Raises UserError where the file was published by a release that knew no users.
    """
    if not narrowed:
        return
    # texts go in as values: views can only name them
    asked = (
        "SELECT $user::VARCHAR AS user_id, $agent::VARCHAR AS agent, $tag::VARCHAR AS tag, $project::VARCHAR AS project"
    )
    connection.execute(f"CREATE TEMP TABLE asked_about AS {asked}", asdict(narrowed))
    ((database,),) = connection.execute("SELECT current_database()").fetchall()
    tables = dict(connection.execute(_COLUMNS).fetchall())
    try:
        published = _qualified_name(database, "memory_health")
        _view(connection, "memory_health", _MEMORIES.format(published=published))
        _view(connection, "other_memories", _OTHER_MEMORIES.format(published=published))
        if narrowed.user is not None:
            published = _qualified_name(database, "counted_outcomes")
            _view(connection, "other_outcomes", _OTHER_OUTCOMES.format(published=published))
        for table, columns in tables.items():
            left_out = _left_out(table, narrowed)
            conditions = _conditions(table, columns, narrowed) or ["true"] * bool(left_out)
            if table == "memory_health" or not conditions:
                continue
            shown = f"* REPLACE ({left_out})" if left_out else "*"
            rows = " AND ".join(f"({condition})" for condition in conditions)
            _view(connection, table, f"SELECT {shown} FROM {_qualified_name(database, table)} WHERE {rows}")  # noqa: S608 - quoted
    except duckdb.Error as error:
        if is_of_another_release(error):
            raise UserError(OTHER_RELEASE) from error
        raise


def _left_out(table: str, narrowed: Narrowed) -> str:
    """What is shown in place of columns of a table; '' where all of them are."""
    if narrowed.project is not None and table in _LEFT_OUT_OF_PROJECT:
        return _LEFT_OUT_OF_PROJECT[table]
    return _LEFT_OUT.get(table, "") if narrowed.user is not None else ""


def _conditions(table: str, columns: Sequence[str], narrowed: Narrowed) -> list[str]:
    """What must hold of the rows of a table that are shown; nothing: it is of nobody, and stays whole."""
    of_project = []
    if narrowed.project is not None:
        of_project += [_OF_PROJECT] * ("project" in columns)
        of_project += [_TARGET_OF_PROJECT] * (table == "curation_decisions")
    return of_project + _conditions_of_people(table, columns, narrowed)


def _conditions_of_people(table: str, columns: Sequence[str], narrowed: Narrowed) -> list[str]:
    by_user, by_agent = narrowed.user is not None, narrowed.agent is not None
    if table == "review_queue":
        # a candidate that stands in answers alone is no memory yet, and would be one without agent and tags
        alone = [_OF_USER] * by_user + ["(SELECT agent FROM temp.asked_about) = ''"] * by_agent
        alone += ["false"] * (narrowed.tag is not None)
        return [f"CASE WHEN len(memory_ids) > 0 THEN {_ALL_KNOWN} ELSE {' AND '.join(alone or ['true'])} END"]
    if table in _OF_ITEMS:
        return [_OF_ITEMS[table]]
    if "memory_id" in columns:
        return [_KNOWN, *([_SAID_TO_USER] if by_user and table == "curation_decisions" else [])]
    if "memory_ids" in columns:
        return [_ALL_KNOWN]
    found = [_OF_AGENT] if by_agent and "agent" in columns else []
    if by_user and table == "counted_outcomes":
        return [*found, f"user_id IS NULL OR {_OF_USER}"]
    if by_user:
        found += [_of_no_other(name) for name in ("strategy_id", "error_id") if name in columns]
        found += ["false"] * (table == "chunk_use")
    return found


def _of_no_other(name: str) -> str:
    """No outcome of another user had this strategy or error."""
    return f"(project, {name}) NOT IN (SELECT (project, {name}) FROM temp.other_outcomes WHERE {name} IS NOT NULL)"  # noqa: S608 - our own


def landed_about(frames: Mapping[str, pl.LazyFrame], narrowed: Narrowed) -> dict[str, pl.LazyFrame]:
    """The landed rows by the names they have in SQL, as far as they are about whom is asked.

    Of interactions and outcomes those of the project, the user and the agent; an outcome that names none is of its
    interaction's. Of memories all changes of those that have now, by the log, this project, user, agent and tag. A tag
    is no interaction's: these stay whole then.
    """
    if not narrowed:
        return dict(frames)
    asked = {"user_id": narrowed.user, "agent": narrowed.agent, "project": narrowed.project}
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

    from slowwave.transforms.evidence.states import memory_states

    of_whom = {"user_id": narrowed.user, "agent": narrowed.agent, "project": narrowed.project}
    known = [pl.col(name) == pl.lit(text) for name, text in of_whom.items() if text is not None]
    known += [pl.col("tags").list.contains(pl.lit(narrowed.tag))] if narrowed.tag is not None else []
    now = memory_states(memories).filter(pl.col("valid_until").is_null())
    return now.filter(known).select("memory_id")


def _view(connection: duckdb.DuckDBPyConnection, name: str, sql: str) -> None:
    connection.execute(f"CREATE TEMP VIEW {_qualified_name(name)} AS {sql}")


def _qualified_name(*parts: str) -> str:
    if len(parts) > 1:
        parts = (parts[0], "main", *parts[1:])
    return ".".join('"' + part.replace('"', '""') + '"' for part in parts)
