"""The review queue for people and programs, and one item of it with everything its counts count.

DuckDB reads it all: loading Polars as well would take longer than the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from slowwave.flows.ask.connection import published_file
from slowwave.flows.ask.narrowed import Narrowed, narrow
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.storage.storage import storage_of
from slowwave.flows.kernel.terminal import quote_shortened, shorten_to_width
from slowwave.flows.kernel.times import utc_text
from slowwave.flows.lake.files import check_format, files_by_day
from slowwave.flows.lake.sql import no_globs, with_lake_rows

Record = dict[str, Any]

SHORTEST_ID, SHORT_ID = 6, 8
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
    WHERE r.is_injected OR r.is_echoed OR r.is_used
)
SELECT b.*, COLUMNS('^(success|basis|basis_method)$')  -- an earlier release published no basis
FROM behind AS b
LEFT JOIN counted_outcomes AS o ON o.interaction_id = b.interaction_id AND o.is_deciding
ORDER BY b.occurred_at DESC, b.interaction_id
"""
_DECIDED = """
SELECT item_id, action, changed_by, decided_at
FROM review_decisions
WHERE item_id = $id OR (len($id) >= 6 AND starts_with(item_id, $id))
ORDER BY item_id = $id DESC, decided_at DESC
"""
_KNOWN_IDS = "SELECT item_id FROM review_queue UNION SELECT item_id FROM review_decisions"
# Decisions that this publish does not know yet.
_SINCE = with_lake_rows("""
SELECT target, command, decision_id, json_array_length("values", '$.changes') > 0
FROM {decisions}
WHERE starts_with(command, 'review ') AND decision_id NOT IN (SELECT decision_id FROM review_decisions)
ORDER BY decided_at, decision_id
""")
_MADE = with_lake_rows("""
SELECT DISTINCT extra ->> '$.decision_id'
FROM {memories}
WHERE extra IS NOT NULL
""")
_SAID = {"review promote": "promoted", "review reject": "rejected", "review merge": "merged"}
# Of the versions of one interaction the latest counts (the landing contract).
_PROMPTS = with_lake_rows("""
SELECT DISTINCT ON (interaction_id) interaction_id, agent, user_id, prompt
FROM {interactions}
WHERE interaction_id IN (SELECT unnest($ids::VARCHAR[]))
    AND recorded_at < (SELECT as_of FROM review_queue WHERE item_id = $item_id)
ORDER BY interaction_id, recorded_at DESC, row_hash DESC
""")


@dataclass(frozen=True)
class ListedItems:
    """Columns and rows of review_queue with `decided`, and how many characters of an id tell the items apart."""

    names: list[str]
    rows: list[tuple[Any, ...]]
    id_length: int


def listed_items(settings: Settings, kind: str | None, project: str | None, user: str | None = None) -> ListedItems:
    """The queue, first what comes first, of a kind, of a project and of a user (None: of all).

    `decided` says what was said of an item since the publish: promoted, rejected or merged. NULL: it waits.

    Raises UserError when nothing is published, or by a version that had no queue.
    """
    with _open_current(settings) as connection:
        since = _decided_since(connection, settings.lake_folder)
        narrow(connection, Narrowed(user=user))
        result = connection.sql(_LISTED, params={"kind": kind, "project": project})
        names = result.columns
        at = names.index("item_id")
        rows = [(*row, since.get(row[at])) for row in result.fetchall()]
        ids = [item_id for (item_id,) in connection.sql(_KNOWN_IDS).fetchall()]
    length = SHORT_ID
    while len({item_id[:length] for item_id in ids}) < len(ids):
        length += 1
    return ListedItems([*names, "decided"], rows, length)


def _decided_since(connection: duckdb.DuckDBPyConnection, lake: Path) -> dict[str, str]:
    """What was said of items since the publish, by item; without its change, by a killed command, nothing was."""
    files = [file.path for of_day in files_by_day(lake, "decisions").values() for file in of_day]
    found = _query_files(connection, _SINCE, decisions=files)
    days = {path.parent.name for path in files}  # a change is of the day of its decision
    changes = _files_of(lake, "memories", days) if found else []
    made = {decision for (decision,) in _query_files(connection, _MADE, memories=changes)}
    return {target: _SAID[command] for target, command, decision, changes in found if decision in made or not changes}


def _files_of(lake: Path, table: str, days: Iterable[str]) -> list[Path]:
    """The files in these day folders of a table."""
    storage = storage_of(lake)
    return [path for day in sorted(days) for path in storage.files(lake / table / day) if path.suffix == ".parquet"]


def _query_files(connection: duckdb.DuckDBPyConnection, sql: str, /, **given: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401
    """What a query on files answers, nothing where there are none; `given` are its params, lists of paths as such."""
    if [] in given.values():
        return []
    known = {
        name: no_globs(value) if isinstance(value, list) and isinstance(value[0], Path) else value
        for name, value in given.items()
    }
    return connection.execute(sql, known).fetchall()


def _add_prompts(connection: duckdb.DuckDBPyConnection, lake: Path, item_id: str, behind: list[Record]) -> list[Record]:
    """The interactions of an item with their agent, user and prompt, as known to the publish."""
    days = {f"day={row['occurred_at']:%Y-%m-%d}" for row in behind}
    files = _files_of(lake, "interactions", days)
    ids = [row["interaction_id"] for row in behind]
    rows = _query_files(connection, _PROMPTS, interactions=files, ids=ids, item_id=item_id)
    names = ("agent", "user_id", "prompt")
    known = {interaction_id: dict(zip(names, told, strict=True)) for interaction_id, *told in rows}
    return [{**row, **known.get(row["interaction_id"], dict.fromkeys(names))} for row in behind]


@contextmanager
def _open_current(settings: Settings) -> Iterator[duckdb.DuckDBPyConnection]:
    current = published_file(settings)
    if current is None:
        message = "nothing is published yet: run `slowwave nightly` first"
        raise UserError(message)
    check_format(settings.lake_folder)
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
    with _open_current(settings) as connection:

        def records(query: str, wanted: str) -> list[Record]:
            result = connection.sql(query, params={"id": wanted})
            return [dict(zip(result.columns, row, strict=True)) for row in result.fetchall()]

        found = records(_ITEMS, item_id)
        if not found:
            raise UserError(_unknown(item_id, records(_DECIDED, item_id)))
        if len(found) > 1 and found[0]["item_id"] != item_id:
            message = f"more than one item starts with {quote_shortened(item_id)}: write more of it"
            raise UserError(message)
        item = found[0]
        behind = records(_INTERACTIONS, item["item_id"])
        lake = settings.lake_folder
        return {
            **item,
            "decided": _decided_since(connection, lake).get(item["item_id"]),
            "memories": records(_MEMORIES, item["item_id"]),
            "interactions": _add_prompts(connection, lake, item["item_id"], behind),
        }


def _unknown(given: str, decided: list[Record]) -> str:
    named = repr(shorten_to_width(given, _SHOWN_CHARACTERS))
    if decided:
        last = decided[0]
        said = f"it was {_SAID['review ' + last['action']]} by {last['changed_by']} at {utc_text(last['decided_at'])}"
        return f"no item of the queue is called {named}: {said}; `slowwave sql reviewed` shows it"
    if len(given) < SHORTEST_ID:
        return f"no item of the queue is called {named}: write {SHORTEST_ID} characters of its id or more"
    return f"no item of the queue is called {named}: `slowwave review list` shows them"
