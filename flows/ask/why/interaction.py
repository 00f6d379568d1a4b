"""What `slowwave why` says of an interaction, its words and the evidence before and after it, and of a run.

Of a run: how it ended and why, the files it landed and the rows it refused.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from slowwave.flows.ask.why.layout import align_columns, format_lines, more, wrap_text
from slowwave.flows.kernel.terminal import format_count, shorten_to_width
from slowwave.flows.kernel.times import utc_text
from slowwave.flows.lake.sql import with_lake_rows
from slowwave.transforms.core.vocabularies import STRATEGY_KEY

_SHOWN = 400
_RUN = "SELECT * EXCLUDE (methods, table_hashes) FROM runs WHERE run_id = $id"
_FILES = "SELECT * EXCLUDE (run_id) FROM run_files WHERE run_id = $id ORDER BY file_number"
_REFUSED = """
SELECT source, row_number, field, reason
FROM quarantine
WHERE run_id = $id
ORDER BY source, row_number
"""


def run_about(records: Records, given: str) -> Record | None:
    """Return a run of the ledger, its `files`, and the rows it `refused` that still are; None: there is none."""
    runs = records(_RUN, id=given)
    return (
        {"run": runs[0], "files": records(_FILES, id=given), "refused": records(_REFUSED, id=given)} if runs else None
    )


def run_text(found: Record, limit: int) -> str:
    """Return the same for people, at most `limit` files and rows."""
    run, files, refused = found["run"], found["files"], found["refused"]
    lines = [
        f"run {run['run_id']}: {run_words(run)}",
        *wrap_text(shorten_to_width(" ".join((run["message"] or "").split()), _SHOWN)),
    ]
    lines += ["", f"files {len(files)}: {landed_words(run)}"]
    lines += [line for row in files[:limit] for line in wrap_text(f"- {file_words(row)}")] + more(len(files), limit)
    lines += ["", f"refused {len(refused)}: rows that still are in quarantine"]
    shown = [["", row["source"], f"row {row['row_number']}", row["reason"]] for row in refused[:limit]]
    return format_lines([*lines, *align_columns(shown), *more(len(refused), limit)])


def run_words(run: Record) -> str:
    """Return what ran, how it ended, when, and what it describes."""
    ended = f" to {utc_text(run['finished_at'])}" if run["finished_at"] else ""
    as_of = f", as of {utc_text(run['as_of'])}" if run["as_of"] else ""
    return f"{run['kind']}, {run['status'].replace('_', ' ')}, {utc_text(run['started_at'])}{ended}{as_of}"


def landed_words(row: Record) -> str:
    """Return what became of the delivered rows of a run or a file."""
    names = ("accepted", "duplicate", "quarantined")
    return f"{format_count(row['delivered'], 'row')} delivered: " + ", ".join(f"{row[name]:,} {name}" for name in names)


def file_words(row: Record) -> str:
    """Return what became of a file."""
    return f"{shorten_to_width(row['source'], _SHOWN)}: {landed_words(row)}"


Record = dict[str, Any]
Records = Callable[..., list[Record]]

_SHOWN_WORDS = 1_000

WORDS = with_lake_rows("""
SELECT prompt, response
FROM {interactions}
WHERE interaction_id = $id AND created_at < $as_of AND recorded_at < $as_of
ORDER BY recorded_at DESC, row_hash DESC
LIMIT 1
""")

_OF_MEMORY = {
    "injected": "is_injected",
    "quoted": "is_echoed",
    "used": "is_used",
    "confirmed": "success",
    "contradicted": "NOT success",
}
_OF_STRATEGY = {"attempts": "TRUE", "successes": "success"}


def _around(counts: dict[str, str]) -> str:
    return ", ".join(
        f"count(*) FILTER ({condition} AND NOT is_this) AS {name}_before, count(*) FILTER ({condition}) AS {name}_after"
        for name, condition in counts.items()
    )


_MEMORIES = f"""
WITH past AS (
    SELECT p.*, p.interaction_id = $id AS is_this, o.success
    FROM memory_references AS h
    JOIN memory_references AS p
        ON
            p.memory_id = h.memory_id
            AND (p.occurred_at < h.occurred_at OR (p.occurred_at = h.occurred_at AND p.interaction_id <= $id))
    LEFT JOIN counted_outcomes AS o
        ON o.interaction_id = p.interaction_id AND o.is_attempt AND o.is_deciding AND (p.is_echoed OR p.is_used)
    WHERE h.interaction_id = $id
)
SELECT
    memory_id,
    bool_or(is_injected AND is_this) AS is_injected,
    bool_or(is_echoed AND is_this) AS is_quoted,
    bool_or(in_prompt AND is_this) AS in_prompt,
    bool_or(is_used AND is_this) AS is_used,
    {_around(_OF_MEMORY)}
FROM past
GROUP BY memory_id
ORDER BY memory_id
"""  # noqa: S608 - names of our own columns

_REINFORCED = """
SELECT
    memory_id,
    arg_max(reinforced_confidence, day) FILTER (day < $day) AS before,
    arg_max(reinforced_confidence, day) FILTER (day <= $day) AS after
FROM memory_health_history
WHERE memory_id IN (SELECT memory_id FROM memory_references WHERE interaction_id = $id)
GROUP BY memory_id
"""

_STRATEGIES = f"""
WITH here AS (
    SELECT {", ".join(STRATEGY_KEY)}, max(created_at) AS last_at
    FROM counted_outcomes
    WHERE interaction_id = $id AND is_learned
    GROUP BY ALL
)
SELECT {", ".join(STRATEGY_KEY)}, {_around(_OF_STRATEGY)}
FROM (
    SELECT o.*, o.interaction_id IS NOT DISTINCT FROM $id AS is_this
    FROM counted_outcomes AS o
    JOIN here AS h USING ({", ".join(STRATEGY_KEY)})
    WHERE o.is_learned AND (o.created_at < h.last_at OR o.interaction_id = $id)
)
GROUP BY ALL
ORDER BY ALL
"""  # noqa: S608 - names of our own columns

_PUBLISHED = "SELECT run_id, as_of FROM runs WHERE as_of IS NOT NULL ORDER BY as_of, run_id"
_CONFIDENCE = "SELECT memory_id, confidence FROM memory_health WHERE list_contains($ids, memory_id)"
_CONFIDENCES = f"""
SELECT {", ".join(STRATEGY_KEY)}, confidence FROM heuristics WHERE list_contains($ids, strategy_id)
"""  # noqa: S608 - names of our own columns


def evidence_around(
    records: Records, published_by: Callable[[str], Records | None], interaction_id: str, occurred_at: datetime
) -> Record:
    """What was known of the memories and strategies of an interaction just before it, and with it.

    Args:
        records: what the published file answers.
        published_by: what the file of a run answers; None: it is not kept, or may not be read.
        interaction_id: of the interaction.
        occurred_at: when it happened.

    Returns `memories` and `strategies`, each with `before` and `after`: counts, and `confidence` as the last kept run
    up to the interaction published it, and the first after it (None: no such run is kept); of memories also
    `reinforced_confidence` at the ends of the day before and of that day. `published_before` and `published_after` are
    the times that those runs describe.
    """
    memories = [_nest_counts(row, _OF_MEMORY) for row in records(_MEMORIES, id=interaction_id)]
    strategies = [_nest_counts(row, _OF_STRATEGY) for row in records(_STRATEGIES, id=interaction_id)]
    told = {row["memory_id"]: row for row in records(_REINFORCED, id=interaction_id, day=occurred_at.date())}
    runs = records(_PUBLISHED)
    chosen = {
        "before": _first_kept(published_by, [row for row in reversed(runs) if row["as_of"] <= occurred_at]),
        "after": _first_kept(published_by, [row for row in runs if row["as_of"] > occurred_at]),
    }
    for side, run in chosen.items():
        asked = published_by(run["run_id"]) if run else None
        of_memory, of_strategy = _confidences(asked, memories, strategies)
        for row in memories:
            row[side]["confidence"] = of_memory.get(row["memory_id"])
            row[side]["reinforced_confidence"] = told.get(row["memory_id"], {}).get(side)
        for row in strategies:
            row[side]["confidence"] = of_strategy.get(tuple(row[name] for name in STRATEGY_KEY))
    times = {f"published_{side}": run and run["as_of"] for side, run in chosen.items()}
    return {"memories": memories, "strategies": strategies, **times}


def _nest_counts(row: Record, counts: dict[str, str]) -> Record:
    about = {name: value for name, value in row.items() if not name.endswith(("_before", "_after"))}
    return about | {side: {name: row[f"{name}_{side}"] for name in counts} for side in ("before", "after")}


def _first_kept(published_by: Callable[[str], Records | None], runs: list[Record]) -> Record | None:
    return next((row for row in runs if published_by(row["run_id"]) is not None), None)


def _confidences(
    asked: Records | None, memories: list[Record], strategies: list[Record]
) -> tuple[dict[str, float], dict[tuple[str, ...], float]]:
    """What a run published of these memories and strategies; nothing where there is no run."""
    if asked is None:
        return {}, {}
    of_memory = asked(_CONFIDENCE, ids=[row["memory_id"] for row in memories])
    of_strategy = asked(_CONFIDENCES, ids=[row["strategy_id"] for row in strategies])
    return (
        {row["memory_id"]: row["confidence"] for row in of_memory},
        {tuple(row[name] for name in STRATEGY_KEY): row["confidence"] for row in of_strategy},
    )


def words_lines(found: Record) -> list[str]:
    """The prompt and the answer, their beginnings; nothing where the lake does not have them."""
    lines = []
    for label, text in (("prompt", found["prompt"]), ("answer", found["response"])):
        if text:
            lines += ["", f"{label}:", *wrap_text(shorten_to_width(text, _SHOWN_WORDS))]
    return lines


def evidence_lines(found: Record) -> list[str]:
    """The evidence before and after, a line per memory and strategy."""
    rows = [(row["memory_id"], moved_words(row)) for row in found["memories"]]
    rows += [
        (" / ".join(filter(None, (row["task_type"], f"strategy {row['strategy_id']}"))), moved_words(row))
        for row in found["strategies"]
    ]
    if not rows:
        return []
    before, after = (found[f"published_{side}"] for side in ("before", "after"))
    of_before = f"as of {utc_text(before)}" if before else "by no run that is still kept"
    of_after = f"as of {utc_text(after)}" if after else "by no run that is still kept"
    return [
        "",
        "evidence before → with this interaction:",
        *(line for name, moved in rows for line in (*align_columns([[name]]), *wrap_text(f"  {moved}"))),
        *wrap_text(f"confidence is what was published {of_before} → {of_after}"),
    ]


def moved_words(row: Record) -> str:
    """Return what changed of a memory or a strategy, or is not 0; then the confidences that are known."""
    before, after = row["before"], row["after"]
    counts = [name for name in after if "confidence" not in name]
    moved = [f"{name} {before[name]:,} → {after[name]:,}" for name in counts if after[name]]
    for name in ("reinforced_confidence", "confidence"):
        if before.get(name) is not None or after.get(name) is not None:
            said = " → ".join("not known" if of.get(name) is None else f"{of[name]:.2f}" for of in (before, after))
            moved.append(f"{name.replace('_', ' ')} {said}")
    return ", ".join(moved)
