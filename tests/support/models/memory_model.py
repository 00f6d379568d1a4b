"""What DESIGN says of memories and evidence, as plain loops: slow, obvious, and knowing nothing of the transforms.

Changes and interactions are mappings with the landed columns; a field that is absent or None says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import Any

import polars as pl

Row = dict[str, Any]

FIRST = {
    "memory_type": "knowledge", "project": "", "agent": "", "content": None, "status": "candidate", "confidence": None,
    "importance": None, "pinned": False, "source_ids": None, "superseded_by": None,
    "scope": None, "user_id": None, "category": None, "domain": None, "source": None, "tags": None,
    "expires_at": None, "parent_id": None, "stated_references": None, "stated_last_referenced_at": None,
}  # fmt: skip
# Unicode White_Space: what \s means in Rust's regex. Python's \s also takes U+001C to U+001F.
WHITE_SPACE = frozenset(
    "\t\n\x0b\x0c\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
)


def after(state: Row | None, change: Row) -> Row:
    """The state a change leaves behind: what it says, else what held before, else the defaults of a first change."""
    new = dict(FIRST if state is None else state)
    for name, default in FIRST.items():
        value = change.get(name)
        if value == "" or name in (change.get("clears") or ()):
            # '' clears: to the empty text where that is a value of its own, else to what a first change would have
            new[name] = "" if name in {"project", "agent", "content"} else default
        elif value is not None:
            new[name] = value
    return new


def state_at(changes: Sequence[Row], memory_id: str, at: datetime) -> Row | None:
    """The state an interaction at `at` sees: of all changes with changed_at <= at; nothing expires."""
    state = None
    for change in sorted(changes, key=lambda c: c["changed_at"]):
        if change["memory_id"] == memory_id and change["changed_at"] <= at:
            state = after(state, change)
    return state


def state_then(changes: Sequence[Row], memory_id: str, at: datetime) -> Row | None:
    """The same, expired where the memory would be in use at or after its `expires_at`."""
    state = state_at(changes, memory_id, at)
    if state and state["status"] in {"candidate", "active"} and state["expires_at"] and state["expires_at"] <= at:
        return {**state, "status": "expired"}
    return state


def is_global(state: Row) -> bool:
    """Of every project: by its scope, or as an identity or preference of none."""
    of_nobody = state["project"] == "" and state["memory_type"] in {"identity", "preference"}
    return of_nobody or state["scope"] == "global"


def is_eligible(state: Row | None, interaction: Row) -> bool:
    """Active, and of the project, or an identity or preference of no project, or global; of its agent and its user."""
    if state is None or state["status"] != "active":
        return False
    if not (is_global(state) or state["project"] == interaction["project"]):
        return False
    if state["scope"] == "agent" and state["agent"] != interaction["agent"]:
        return False
    return state["user_id"] is None or state["user_id"] == interaction.get("user_id")


def lower(text: str) -> str:
    """Polars' lower case, of this text alone."""
    return pl.Series([text]).str.to_lowercase().item()


@cache
def normalised(text: str) -> str:
    """Lower case, every run of white space one space, none at the ends."""
    words: list[str] = [""]
    for char in lower(text):
        if char in WHITE_SPACE:
            words.append("")
        else:
            words[-1] += char
    return " ".join(word for word in words if word)


def pattern(content: str | None, first: int = 80, least: int = 12) -> str | None:
    """What `echo/1` looks for: the first 80 code points, None when there are fewer than 12."""
    prefix = normalised(content or "")[:first]
    return prefix if len(prefix) >= least else None


def echoed_in(interaction: Row, wanted: str | None) -> str | None:
    """response, summary, both, or None."""
    if wanted is None or not interaction["reinforce"]:
        return None
    response = wanted in normalised(interaction["response"] or "")
    summary = wanted in normalised(interaction["response_summary"] or "")
    return "both" if response and summary else "response" if response else "summary" if summary else None


def uses(interaction: Row, memory_id: str) -> bool:
    """Stands for `used/3`: any rule will do that needs no more than the pair itself."""
    return interaction["reinforce"] and (len(interaction["response"] or "") + ord(memory_id[-1])) % 3 == 0


def references(interactions: Sequence[Row], changes: Sequence[Row]) -> list[Row]:
    """memory_references: every memory against every interaction."""
    found = []
    for interaction in interactions:
        injected, cited = set(interaction["memories_used"] or ()), set(interaction["memories_cited"] or ())
        for memory_id in sorted(injected | cited | {change["memory_id"] for change in changes}):
            state = state_then(changes, memory_id, interaction["occurred_at"])
            is_candidate = is_eligible(state, interaction)
            wanted = pattern(state["content"]) if state and is_candidate else None
            where = echoed_in(interaction, wanted)
            is_used = is_candidate and uses(interaction, memory_id)
            if memory_id in injected or memory_id in cited or where or is_used:
                found.append(
                    {
                        "memory_id": memory_id,
                        **{
                            n: interaction[n]
                            for n in ("interaction_id", "occurred_at", "project", "agent", "session_id")
                        },
                        "is_injected": memory_id in injected,
                        "is_echoed": where is not None,
                        "echoed_in": where,
                        "in_prompt": wanted in normalised(interaction["prompt"]) if where and wanted else None,
                        "is_used": is_used,
                        "used_score": 0.9418 if is_used else None,
                        "passage": None,
                        "passage_at": None,
                        "is_cited": memory_id in cited,
                        "methods": ["injected/1"] * (memory_id in injected)
                        + ["echo/1"] * (where is not None)
                        + ["used/3"] * is_used
                        + ["cited/1"] * (memory_id in cited),
                    }
                )
    return sorted(found, key=lambda row: (row["memory_id"], row["interaction_id"]))


def eligible_count(interactions: Sequence[Row], changes: Sequence[Row], memory_id: str) -> int:
    """Interactions that could have used the memory."""
    return sum(is_eligible(state_then(changes, memory_id, i["occurred_at"]), i) for i in interactions)


def counts(interactions: Sequence[Row], changes: Sequence[Row], memory_id: str) -> Row:
    """The counts of one memory over these interactions."""
    mine = [row for row in references(interactions, changes) if row["memory_id"] == memory_id]
    referring = [row["occurred_at"] for row in mine if row["is_echoed"] or row["is_used"]]
    return {
        "eligible_count": eligible_count(interactions, changes, memory_id),
        "injected_count": sum(row["is_injected"] for row in mine),
        "echoed_count": sum(row["is_echoed"] for row in mine),
        "used_count": sum(row["is_used"] for row in mine),
        "cited_count": sum(row["is_cited"] for row in mine),
        "parroted": sum(bool(row["in_prompt"]) for row in mine),
        "reference_count": len(referring),
        "first_referenced_at": min(referring, default=None),
        "last_referenced_at": max(referring, default=None),
    }


def reinforced(initial: float | None, echoed: int) -> float | None:
    """The initial confidence plus 0.02 per echoing interaction, at most 1."""
    return None if initial is None else min(initial + 0.02 * echoed, 1.0)
