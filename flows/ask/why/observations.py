"""`slowwave why` of an observation: the memories, sources and references behind it, its states, what contradicts it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import orjson

from slowwave.flows.ask.why.layout import align_columns, format_lines, more, wrap_text
from slowwave.flows.kernel.terminal import shorten_to_width
from slowwave.flows.kernel.times import utc_text

# `slowwave why` of a memory: how what it states has changed, what waits for a person's word, what curation says.

Record = dict[str, Any]

WAITS = """
SELECT item_id, rank, kind, text, reason
FROM review_queue
WHERE list_contains(memory_ids, $id)
ORDER BY rank
"""
CHANGED = """
SELECT observation_id, journey
FROM observations
WHERE journey IS NOT NULL AND (list_contains(memory_ids, $id) OR list_contains(supersedes, $id))
ORDER BY observation_id
"""
# every column: a file of an earlier release has no word of the rules beside the model's
CURATED = """
SELECT * EXCLUDE (run_id, as_of)
FROM curation_decisions
WHERE memory_id = $id
ORDER BY changed_at DESC
"""
_SHOWN = 400
_SHOWN_STATE = 120
_DAY = 10  # characters of a time that are its day


def curation_lines(found: Record) -> list[str]:
    """How what a memory states has changed, what waits about it, and what curation says of its texts, newest first."""
    lines = [line for one in found["changed"] for line in wrap_text(changed_words(one))]
    lines += [line for item in found["waits"] for line in wrap_text(_waiting(item))]
    return lines + [line for one in found["curated"] for line in wrap_text(f"curation: {decided_words(one)}")]


def changed_words(one: Record) -> str:
    """The states of the fact that a memory states, the oldest first, and where to ask for all of it."""
    told = ", then ".join(_state(step) for step in orjson.loads(one["journey"]))
    return f"what it states has changed: {told} (slowwave why {one['observation_id']})"


def _state(step: Record) -> str:
    since = f" since {step['from'][:_DAY]}" if step["from"] else ""
    said = shorten_to_width(step.get("value") or step["text"], _SHOWN_STATE)
    return f"“{said}”{since}"


def _waiting(item: Record) -> str:
    said = f"waits for review as {item['kind']} (place {item['rank']}, item {item['item_id'][:12]}): {item['text']}"
    return f"{shorten_to_width(said, _SHOWN)}; why: {shorten_to_width(item['reason'], _SHOWN)}"


def decided_words(one: Record) -> str:
    """What curation says of a text: the action, of which memory, why; beside it the rules', where a model decided."""
    said = f"{utc_text(one['changed_at'])} {_action(one['action'], one['target_memory_id'])} ({one['reason']})"
    if one.get("rules_action") is None:
        return shorten_to_width(said, _SHOWN)
    rules = _action(one["rules_action"], one["rules_target_memory_id"])
    told = f", says {one['method']}; the rules say "
    is_same = (one["action"], one["target_memory_id"]) == (one["rules_action"], one["rules_target_memory_id"])
    return (
        f"{shorten_to_width(said, _SHOWN)}{told}{'the same' if is_same else rules} "
        f"({shorten_to_width(one['rules_reason'], _SHOWN)})"
    )


def _action(action: str, target: str | None) -> str:
    return f"{action} {shorten_to_width(target, _SHOWN)}" if target else action


Records = Callable[..., list[Record]]

_SHOWN_ID = 120

_OBSERVATION = "SELECT * FROM observations WHERE observation_id = $id"

_MEMORIES = """
SELECT memory_id, status, created_at, content, reference_count, confidence, trend
FROM memory_health
WHERE list_contains($memory_ids, memory_id)
ORDER BY created_at, memory_id
"""

_REFERENCES = """
SELECT interaction_id, occurred_at, project, agent, session_id, memory_id, methods
FROM memory_references
WHERE list_contains($memory_ids, memory_id) AND (is_echoed OR is_used)
ORDER BY occurred_at DESC, interaction_id, memory_id
"""

_DECISIONS = """
SELECT * EXCLUDE (project, scope, content, run_id, as_of)
FROM curation_decisions
WHERE list_contains($memory_ids, memory_id)
ORDER BY changed_at, memory_id
"""


def observation_about(records: Records, given: str) -> Record | None:
    """What stands behind an observation; None: no observation has this id.

    `counts` says how many `memories`, `sources` (proof), `references` (an interaction and a memory) and `superseded`
    memories there are; each list holds exactly as many.
    """
    rows = records(_OBSERVATION, id=given)
    if not rows:
        return None
    row = rows[0]
    ids = row["memory_ids"]
    memories = records(_MEMORIES, memory_ids=ids)
    references = records(_REFERENCES, memory_ids=ids)
    superseded = records(_MEMORIES, memory_ids=row["supersedes"])
    names = ("project", "scope", "text", "best_memory_id", "confidence", "trend", "last_evidence_at", "freshness",
             "method")  # fmt: skip
    return {
        "observation_id": given,
        "as_of": row["as_of"],
        "run_id": row["run_id"],
        "observation": {name: row[name] for name in names},
        "counts": {
            "memories": len(ids),
            "sources": row["proof_count"],
            "references": sum(memory["reference_count"] for memory in memories),
            "superseded": len(row["supersedes"]),
        },
        "memories": memories,
        "sources": [
            {"source_id": source_id, "cited_at": cited_at}
            for source_id, cited_at in zip(row["source_ids"], row["source_times"], strict=True)
        ],
        "references": references,
        "superseded": superseded,
        "journey": orjson.loads(row["journey"]) if row["journey"] else None,
        "contradicts": records(_MEMORIES, memory_ids=row["contradicts"]),
        "decisions": records(_DECISIONS, memory_ids=[*ids, *row["supersedes"]]),
    }


def observation_text(found: Record, limit: int) -> str:
    """The same for people, at most `limit` rows of each list."""
    row, counts = found["observation"], found["counts"]
    lines = [f"observation {found['observation_id']} of {row['project'] or '(no project)'}, {row['scope']}"]
    lines += wrap_text(shorten_to_width(row["text"], _SHOWN))
    lines.append(f"as of {utc_text(found['as_of'])}, published by run {found['run_id']}")
    confidence = "confidence not known" if row["confidence"] is None else f"confidence {row['confidence']:.2f}"
    lines.append(
        f"{confidence}; trend {row['trend']}; {row['freshness']}: last evidence {utc_text(row['last_evidence_at'])}"
    )
    lines += ["", f"sources {counts['sources']}: its proof; each counts once, however often it was said"]
    lines += align_columns(
        [["", utc_text(one["cited_at"]), _short(one["source_id"])] for one in found["sources"][:limit]]
    )
    lines += more(counts["sources"], limit)
    lines += ["", f"memories {counts['memories']}: active ones that state it ({row['method']})"]
    lines += _memories(found["memories"], limit)
    lines += ["", f"references {counts['references']}: answers that quote or use one of them"]
    lines += align_columns(
        [
            ["", utc_text(one["occurred_at"]), _short(one["interaction_id"]), _short(one["memory_id"])]
            for one in found["references"][:limit]
        ]
    )
    lines += more(len(found["references"]), limit)
    lines += ["", f"superseded {counts['superseded']}: active memories of its earlier states, no proof of it"]
    lines += _memories(found["superseded"], limit)
    if found["journey"]:
        lines += _journey(found["journey"])
    if found["contradicts"]:
        lines += ["", f"contradicts {len(found['contradicts'])}: neither replaces the other"]
        lines += _memories(found["contradicts"], limit)
    lines += ["", "what curation would have done with its memories:"]
    for one in found["decisions"][:limit]:
        lines += wrap_text(f"- {_short(one['memory_id'])}: {decided_words(one)}")
    lines += more(len(found["decisions"]), limit)
    return format_lines(lines)


def _journey(steps: list[Record]) -> list[str]:
    """What changed of what, from what to what, with the days on which each was said first; and the words of each."""
    lines = ["", "journey: what was so, from when until when"]
    for before, after in pairwise(steps):
        if before.get("value") is None or after.get("value") is None:
            continue
        of = " ".join(part for part in (after["subject"], after["attribute"]) if part)
        since = f"said {before['from'][:_DAY]}" if before["from"] else "not said since when"
        change = f"from “{before['value']}” ({since}) to “{after['value']}” (said {after['from'][:_DAY]})"
        lines += wrap_text(shorten_to_width(f"- “{of}”: {change}" if of else f"- {change}", _SHOWN))
    for step in steps:
        times = f"{step['from'] or 'not said since when'} to {step['until'] or 'now'}"
        lines += wrap_text(f"- {times}: {shorten_to_width(step['text'], _SHOWN)}")
    return lines


def _memories(rows: list[Record], limit: int) -> list[str]:
    lines = []
    for row in rows[:limit]:
        said = f"{_short(row['memory_id'])} ({utc_text(row['created_at'])}): {row['content']}"
        lines += wrap_text(f"- {shorten_to_width(said, _SHOWN)}")
    return lines + more(len(rows), limit)


def _short(text: str) -> str:
    return shorten_to_width(text, _SHOWN_ID)
