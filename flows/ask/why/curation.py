"""`slowwave why` of a memory: how what it states has changed, what waits for a person's word, what curation says."""

from __future__ import annotations

from typing import Any

import orjson

from slowwave.flows.ask.why.layout import wrap_text
from slowwave.flows.kernel.terminal import shorten_to_width
from slowwave.flows.kernel.times import utc_text

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
