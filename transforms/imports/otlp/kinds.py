"""What a span is: a turn of an agent, a call of a model, a search, a judge; by either convention."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from slowwave.transforms.imports.otlp.spans import Node, tells_content
from slowwave.transforms.imports.otlp.values import text

Kind = Literal["turn", "chain", "call", "search", "retrieval", "change", "judge", "other"]

_OPERATIONS: dict[str, Kind] = {
    "invoke_agent": "turn",
    "invoke_workflow": "turn",
    "chat": "call",
    "generate_content": "call",
    "text_completion": "call",
    "search_memory": "search",
    "retrieval": "retrieval",
    "create_memory": "change",
    "update_memory": "change",
    "upsert_memory": "change",
    "delete_memory": "change",
    "delete_memory_store": "change",
}
_OPENINFERENCE: dict[str, Kind] = {
    "AGENT": "turn",
    "CHAIN": "chain",
    "LLM": "call",
    "RETRIEVER": "retrieval",
    "EVALUATOR": "judge",
    "GUARDRAIL": "judge",
}


def kind_of(node: Node, memory_stores: Collection[str]) -> Kind:
    """The kind of a span. A retrieval from one of the `memory_stores` (by data source or span name) is a search."""
    held = node.span.attributes
    if not held and not node.events:
        return "other"
    operation = text(held.get("gen_ai.operation.name"))
    kind = _OPERATIONS.get(operation) or _OPENINFERENCE.get(text(held.get("openinference.span.kind")), "other")
    if kind == "other" and not operation and (_is_of_a_prompt(node) or any(map(tells_content, node.events))):
        return "call"  # from before operations had names
    if kind == "retrieval" and not {text(held.get("gen_ai.data_source.id")), node.span.name}.isdisjoint(memory_stores):
        return "search"
    return kind


def _is_of_a_prompt(node: Node) -> bool:
    return any(key.startswith("gen_ai.prompt.") for key in node.span.attributes)
