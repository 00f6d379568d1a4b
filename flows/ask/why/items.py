"""`slowwave why` of a review item: what it asks, the memories it is about and the interactions behind it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from slowwave.dashboards.links import command_line, view
from slowwave.flows.ask.why.layout import Fact, FactRow, one_line, short_id
from slowwave.flows.ask.why.strongest import EvidenceEvent, evidence_fact
from slowwave.flows.kernel.terminal import format_count
from slowwave.flows.kernel.times import utc_text

# Where `slowwave why` says to look next: a page of the dashboard, and commands that can be copied.

Record = dict[str, Any]

_LONGEST = 87  # a command that is longer does not fit beside its label


def look_next(page: str, commands: Sequence[str], **chosen: str) -> list[str]:
    """Return the line of a dashboard page, with what is chosen there, and those commands that can be copied whole.

    `open`, as `KIND:ID`, is what the page shows beside it.
    """
    address = f"slowwave dashboard, page {view(page, **chosen)}"
    lines = [address if len(address) <= _LONGEST else f"slowwave dashboard, page {view(page)}", *commands]
    return [line for line in lines if line and len(line) <= _LONGEST]


def why_command(id_: str, *, is_all: bool = False) -> str:
    """Return the command that asks about an id; '' where it cannot be copied."""
    return command_line("why", id_, all=is_all)


def all_command(found: Record, id_: str) -> str:
    """Return the command that prints everything about what was found under an id."""
    return why_command(f"{found['kind']}:{id_}" if found["also"] else id_, is_all=True)


Records = Callable[..., list[Record]]

_ITEM = "SELECT * EXCLUDE (run_id, as_of) FROM review_queue WHERE item_id = $id"
_DECISIONS = """
SELECT * EXCLUDE (run_id, as_of)
FROM review_decisions
WHERE item_id = $id
ORDER BY decided_at DESC
"""
_MEMORIES = """
SELECT memory_id, status, verdict, content
FROM memory_health
WHERE list_contains($ids, memory_id)
ORDER BY memory_id
"""
_BEHIND = """
WITH behind AS (
    SELECT interaction_id, occurred_at, in_prompt
    FROM review_statements
    WHERE item_id = $id
    UNION ALL
    SELECT DISTINCT interaction_id, occurred_at, false
    FROM memory_references
    WHERE list_contains($ids, memory_id) AND (is_injected OR is_echoed OR is_used)
)
SELECT b.*, o.success, o.basis
FROM behind AS b
LEFT JOIN counted_outcomes AS o ON o.interaction_id = b.interaction_id AND o.is_deciding
ORDER BY b.occurred_at DESC, b.interaction_id
"""


def item_about(records: Records, given: str) -> Record | None:
    """Return a review item that waits, or was decided, with its `decisions`, `memories` and `interactions`."""
    decisions = records(_DECISIONS, id=given)
    items = records(_ITEM, id=given) or decisions[:1]
    if not items:
        return None
    item = items[0]
    is_candidate = item["kind"] == "candidate"
    return {
        "item_id": given,
        "item": item,
        "is_waiting": "rank" in item,
        "decisions": decisions,
        "memories": records(_MEMORIES, ids=item["memory_ids"]),
        "interactions": records(_BEHIND, id=given, ids=[] if is_candidate else item["memory_ids"]),
    }


def item_facts(found: Record) -> list[Fact]:
    """Return the facts of a review item."""
    item, behind = found["item"], _order_evidence(found["item"]["kind"], found["interactions"])
    state = "waits for a decision" if found["is_waiting"] else "waits no longer"
    whose = f", of user {item['user_id']} alone" if item.get("user_id") else ""
    evidence = [EvidenceEvent(row["interaction_id"], row["occurred_at"], _behind_words(row)) for row in behind]
    return [
        Fact("item", [f"{short_id(found['item_id'])}: {item['kind']}, {state}{whose}"]),
        Fact("text", [one_line(item["text"])]),
        Fact("reason", [item["reason"]] if found["is_waiting"] else []),
        Fact("decided", [_decided_words(row) for row in found["decisions"][:1]]),
        Fact("memories", [], [_memory_row(row) for row in found["memories"]]),
        evidence_fact(evidence, "interaction"),
        Fact(
            "figures",
            [
                (
                    f"{format_count(item['interactions_count'], 'interaction')} in "
                    f"{format_count(item['sessions_count'], 'session')}"
                ),
                f"attempts: {item['succeeded_count']:,} succeeded, {item['failed_count']:,} failed",
            ]
            if found["is_waiting"]
            else [],
        ),
        Fact(
            "look next",
            look_next("review", [f"slowwave review show {found['item_id']}"], open=f"item:{found['item_id']}"),
        ),
    ]


def _order_evidence(kind: str, behind: list[Record]) -> list[Record]:
    """Of what is harmful failed attempts come first, else those with an outcome; the newest first among these."""
    if kind == "harmful":
        return sorted(behind, key=lambda row: row["success"] is not False)
    return sorted(behind, key=lambda row: row["success"] is None)


def _behind_words(row: Record) -> str:
    ended = {True: "succeeded", False: "failed", None: "no outcome"}[row["success"]]
    known = f" ({row['basis']})" if row["basis"] else ""
    return f"{ended}{known}{', its prompt said it' if row['in_prompt'] else ''}"


def _decided_words(row: Record) -> str:
    by = f" by {row['changed_by']}" if row["changed_by"] else ""
    why = f": {row['reason']}" if row.get("reason") else ""
    return f"{utc_text(row['decided_at'])} {row['action']}{by}{why}"


def _memory_row(row: Record) -> FactRow:
    id_, says = row["memory_id"], f"{row['status']}, {row['verdict']}: {one_line(row['content'])}"
    return FactRow(f"memory:{id_}", None, says, f"{short_id(id_)}, {says}")
