"""`slowwave why` of a memory: what waits for a person's word about it, and what curation says of it."""

from __future__ import annotations

from typing import Any

from slowwave.flows.ask.why.text import wrapped
from slowwave.flows.kernel.terminal import shortened
from slowwave.flows.kernel.times import utc_text

Record = dict[str, Any]

WAITS = """
SELECT item_id, rank, kind, text, reason
FROM review_queue
WHERE list_contains(memory_ids, $id)
ORDER BY rank
"""
# every column: a file of an earlier release has no word of the rules beside the model's
CURATED = """
SELECT * EXCLUDE (run_id, as_of)
FROM curation_decisions
WHERE memory_id = $id
ORDER BY changed_at DESC
"""
_SHOWN = 400


def curation_lines(found: Record) -> list[str]:
    """What waits about a memory, and what curation says of its texts, the newest first."""
    lines = [line for item in found["waits"] for line in wrapped(_waiting(item))]
    return lines + [line for one in found["curated"] for line in wrapped(f"curation: {decided_words(one)}")]


def _waiting(item: Record) -> str:
    said = f"waits for review as {item['kind']} (place {item['rank']}, item {item['item_id'][:12]}): {item['text']}"
    return f"{shortened(said, _SHOWN)}; why: {shortened(item['reason'], _SHOWN)}"


def decided_words(one: Record) -> str:
    """What curation says of a text: the action, of which memory, why; beside it the rules', where a model decided."""
    said = f"{utc_text(one['changed_at'])} {_action(one['action'], one['target_memory_id'])} ({one['reason']})"
    if one.get("rules_action") is None:
        return shortened(said, _SHOWN)
    rules = _action(one["rules_action"], one["rules_target_memory_id"])
    told = f", says {one['method']}; the rules say "
    is_same = (one["action"], one["target_memory_id"]) == (one["rules_action"], one["rules_target_memory_id"])
    return (
        f"{shortened(said, _SHOWN)}{told}{'the same' if is_same else rules} ({shortened(one['rules_reason'], _SHOWN)})"
    )


def _action(action: str, target: str | None) -> str:
    return f"{action} {shortened(target, _SHOWN)}" if target else action
