"""What `slowwave why` asks of a published file, and of the files of the lake that it was made from."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Protocol

from slowwave.flows.kernel.storage.storage import storage_of
from slowwave.flows.lake.files import files_by_day
from slowwave.flows.lake.lifetime.horizons import read_horizon
from slowwave.flows.lake.sql import no_globs, partition_sql, with_lake_rows

MEMORY = "SELECT * EXCLUDE (run_id, as_of) FROM memory_health WHERE memory_id = $id"

# Of outcomes those columns that there are: what an earlier release published has no basis.
ENDED = """
SELECT
    r.interaction_id,
    r.occurred_at,
    r.project,
    r.agent,
    r.session_id,
    r.is_injected,
    r.is_echoed OR r.is_used AS is_referenced,
    COLUMNS('^(outcome_id|success|basis|basis_method|is_counted|is_deciding)$')
FROM memory_references AS r
JOIN counted_outcomes AS o ON o.interaction_id = r.interaction_id AND o.is_attempt
WHERE r.memory_id = $id AND (r.is_echoed OR r.is_used OR r.is_injected)
ORDER BY r.occurred_at DESC, r.interaction_id, o.created_at DESC, o.outcome_id DESC
"""

REFERENCES = """
SELECT * EXCLUDE (memory_id, run_id, as_of)
FROM memory_references
WHERE memory_id = $id
ORDER BY occurred_at DESC, interaction_id
"""

STALE = """
SELECT interaction_id, occurred_at, project, agent, session_id, status, stale_since
FROM stale_injections
WHERE memory_id = $id
ORDER BY occurred_at DESC, interaction_id
"""

CHECKS = """
SELECT
    interaction_id,
    occurred_at,
    project,
    agent,
    session_id,
    bool_and(is_followed) AS is_followed,
    string_agg(concat(expected, ' (', saw, ')'), '; ' ORDER BY is_followed, check_kind, expected) AS saw
FROM instruction_checks
WHERE memory_id = $id
GROUP BY ALL
ORDER BY occurred_at DESC, interaction_id
"""

READ_BY_DAY = ("replayed_interactions", "memory_eligibility")
PARTITIONS = with_lake_rows(f"""
SELECT day, {", ".join(f"{partition_sql(table)} AS {table}" for table in READ_BY_DAY)}
FROM {{day_inputs}}
WHERE run_id = $run_id AND landed_table = 'interactions' AND fingerprint <> ''
ORDER BY day
""")  # noqa: S608 - names of our own tables

ELIGIBLE = with_lake_rows("""
SELECT i.interaction_id, i.occurred_at, i.project, i.agent, i.session_id
FROM {replayed_interactions} AS i
JOIN {memory_eligibility} AS e
    ON (e.is_global OR e.project = i.project)
    AND (e.only_agent IS NULL OR e.only_agent = i.agent)
    AND (e.only_user IS NULL OR e.only_user = i.user_id)
    AND i.occurred_at BETWEEN e.first_at AND e.last_at
WHERE e.memory_id = $id
ORDER BY i.occurred_at DESC, i.interaction_id
""")

# Of the versions of one change the latest recorded_at wins, ties by row_hash (the landing contract).
CHANGES = with_lake_rows("""
SELECT
    *,
    row_number() OVER (PARTITION BY changed_at ORDER BY recorded_at DESC, row_hash DESC) = 1 AS is_winning
FROM (
    SELECT DISTINCT ON (row_hash) *
    FROM {memories}
    WHERE memory_id = $id AND changed_at < $as_of AND recorded_at < $as_of
)
ORDER BY changed_at, recorded_at, row_hash
""")

REVIEWED = """
SELECT item_id FROM review_queue WHERE item_id = $id UNION SELECT item_id FROM review_decisions WHERE item_id = $id
"""

OF_INTERACTION = """
SELECT *
FROM memory_references
WHERE interaction_id = $id
ORDER BY memory_id
"""

IS_PROJECT = "SELECT project FROM project_health WHERE project = $id"

PLANNED = "SELECT rule, reason, is_shadow FROM forgetting_plan WHERE memory_id = $id"

OUTCOMES_OF = """
SELECT COLUMNS(
    '^(outcome_id|created_at|success|basis|basis_method|is_attempt|is_counted|is_deciding|strategy_id|error_id|reason)$'
)
FROM counted_outcomes
WHERE interaction_id = $id
ORDER BY created_at, outcome_id
"""

# The one before and the one after in its session, within a day.
NEIGHBOURS = with_lake_rows("""
SELECT
    CASE WHEN (occurred_at, interaction_id) < ($at, $id) THEN 'before' ELSE 'after' END AS side,
    CASE side WHEN 'before' THEN max(occurred_at) ELSE min(occurred_at) END AS occurred_at,
    CASE side WHEN 'before' THEN arg_max(interaction_id, (occurred_at, interaction_id))
        ELSE arg_min(interaction_id, (occurred_at, interaction_id)) END AS interaction_id
FROM {replayed_interactions}
WHERE
    session_id = $session_id AND project = $project AND interaction_id <> $id
    AND occurred_at BETWEEN $at::TIMESTAMP - INTERVAL 1 DAY AND $at::TIMESTAMP + INTERVAL 1 DAY
GROUP BY side
ORDER BY side DESC
""")

INTERACTION = with_lake_rows("SELECT * FROM {replayed_interactions} WHERE interaction_id = $id")


# The evidence files that a run was published from, as far as `why` reads them.


class QueryFunction(Protocol):
    """The rows that a query on the published file answers."""

    def __call__(self, sql: str, /, **params: object) -> list[tuple[Any, ...]]:
        """As rows."""
        ...


@dataclass(frozen=True)
class Partitions:
    """The evidence files a run was published from; `missing` counts those that are gone, None: not even named.

    `listed_from`: of days before it, where memories were eligible has expired; None: of none.
    """

    replayed_interactions: list[str]
    memory_eligibility: list[str]
    missing: int | None
    listed_from: date | None = None


def partitions_of(lake: Path, run_id: str, rows: QueryFunction) -> Partitions:
    """The files of a run in the lake."""
    listed = files_by_day(lake, "day_inputs").values()
    inputs = [file.path for files in listed for file in files if file.path.stem == run_id]
    if not inputs:
        return Partitions([], [], None)
    evidence = lake / "evidence"
    days = rows(PARTITIONS, day_inputs=no_globs(inputs), run_id=run_id)
    found = {
        table: [evidence / table / f"day={day}" / f"{names[at]}.parquet" for day, *names in days]
        for at, table in enumerate(READ_BY_DAY)
    }
    storage, reached = storage_of(evidence), read_horizon(lake, "evidence")
    there = {table: [path for path in paths if storage.exists(path)] for table, paths in found.items()}
    gone = {table: set(paths) - set(there[table]) for table, paths in found.items()}
    before = f"day={reached.before}" if reached else ""
    expired = [path for path in gone["memory_eligibility"] if path.parent.name < before]
    return Partitions(
        **{table: no_globs(paths) for table, paths in there.items()},
        missing=sum(map(len, gone.values())) - len(expired),
        listed_from=reached.before if reached and expired else None,
    )
