"""The review queue for people and programs, and one item of it with everything its counts count.

DuckDB reads it all: loading Polars as well would take longer than the answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import duckdb

from slowwave.flows.errors import UserError
from slowwave.flows.query_connection import published_file
from slowwave.flows.settings import Settings
from slowwave.flows.terminal import shortened

_SHOWN_CHARACTERS = 60
_LISTED = """
SELECT * EXCLUDE (run_id, as_of)
FROM review_queue
WHERE ($kind IS NULL OR kind = $kind) AND ($project IS NULL OR project = $project)
ORDER BY rank
"""
_ITEMS = """
SELECT * EXCLUDE (run_id, as_of)
FROM review_queue
WHERE item_id = $id OR (len($id) >= 6 AND starts_with(item_id, $id))
ORDER BY item_id = $id DESC, item_id
LIMIT 2
"""
_MEMORIES = """
SELECT h.memory_id, h.status, h.project, h.memory_type, h.content, h.reasons
FROM (SELECT unnest(memory_ids) AS memory_id FROM review_queue WHERE item_id = $id)
JOIN memory_health AS h USING (memory_id)
ORDER BY h.memory_id
"""
# Of a candidate what states it or is its source, of memories what had or referenced them.
_INTERACTIONS = """
WITH behind AS (
    SELECT interaction_id, occurred_at, session_id, in_prompt, rules
    FROM review_statements
    WHERE item_id = $id
    UNION ALL
    SELECT DISTINCT r.interaction_id, r.occurred_at, r.session_id, false, []
    FROM (SELECT unnest(memory_ids) AS memory_id FROM review_queue WHERE item_id = $id AND kind <> 'candidate')
    JOIN memory_references AS r USING (memory_id)
)
SELECT b.*, o.success
FROM behind AS b
LEFT JOIN counted_outcomes AS o ON o.interaction_id = b.interaction_id AND o.is_deciding
ORDER BY b.occurred_at DESC, b.interaction_id
"""
_DECIDED = "SELECT action, changed_by, decided_at FROM review_decisions WHERE item_id = $id ORDER BY decided_at DESC"


def listed_items(settings: Settings, kind: str | None, project: str | None) -> tuple[list[str], list[tuple[Any, ...]]]:
    """The columns and rows of review_queue, first what comes first, of a kind and of a project (None: of all).

    Raises UserError when nothing is published, or by a version that had no queue.
    """
    with _published(settings) as connection:
        result = connection.sql(_LISTED, params={"kind": kind, "project": project})
        return result.columns, result.fetchall()


@contextmanager
def _published(settings: Settings) -> Iterator[duckdb.DuckDBPyConnection]:
    current = published_file(settings)
    if current is None:
        message = "nothing is published yet: run `slowwave nightly` first"
        raise UserError(message)
    with closing(duckdb.connect(current, read_only=True)) as connection:
        try:
            yield connection
        except duckdb.CatalogException as error:
            message = "current was published by a version that had no review queue: run `slowwave nightly` first"
            raise UserError(message) from error


def shown_item(settings: Settings, item_id: str) -> dict[str, Any]:
    """A row of review_queue with its `memories` and `interactions`: as many as its counts say, newest first.

    Raises UserError when nothing is published, or no item, or more than one, is called so.
    """
    with _published(settings) as connection:

        def records(query: str, wanted: str) -> list[dict[str, Any]]:
            result = connection.sql(query, params={"id": wanted})
            return [dict(zip(result.columns, row, strict=True)) for row in result.fetchall()]

        found = records(_ITEMS, item_id)
        if not found:
            decided = records(_DECIDED, item_id)
            message = f"no item of the queue is called {shortened(item_id, _SHOWN_CHARACTERS)!r}" + (
                f": it was decided ({decided[0]['action']}) by {decided[0]['changed_by']}" if decided else ""
            )
            raise UserError(message)
        if len(found) > 1 and found[0]["item_id"] != item_id:
            message = f"more than one item starts with {item_id!r}: write more of it"
            raise UserError(message)
        item = found[0]
        return {
            **item,
            "memories": records(_MEMORIES, item["item_id"]),
            "interactions": records(_INTERACTIONS, item["item_id"]),
        }
