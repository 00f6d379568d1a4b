"""What a span is: a turn of an agent, a call of a model, a search, a judge; by whichever convention."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from slowwave.transforms.core.exact_json import parse_json_value
from slowwave.transforms.imports.otlp.conventions import FIRST_CALLS, FIRST_KINDS, KINDS, LATER_TURNS, NAMED, Kind
from slowwave.transforms.imports.otlp.spans import Node, tells_content
from slowwave.transforms.imports.otlp.values import text


def kind_of(node: Node, memory_stores: Collection[str]) -> Kind:
    """The kind of a span. A retrieval from one of the `memory_stores` (by data source or span name) is a search."""
    held = node.span.attributes
    if not held and not node.events:
        return "other"
    kind = stated_kind(held, node.span.name)
    operation = text(held.get("gen_ai.operation.name"))
    if kind == "other" and not operation and _is_untitled_call(node):
        return "call"  # from before operations had names
    if kind == "retrieval" and not {text(held.get("gen_ai.data_source.id")), node.span.name}.isdisjoint(memory_stores):
        return "search"
    return kind


def is_first_call(node: Node) -> bool:
    """Whether a span is a call that version 1 of the adapter knew for one."""
    stated = [text(node.span.attributes.get(name)) for name in FIRST_KINDS]
    return not FIRST_CALLS.isdisjoint(stated) or (not stated[0] and _is_untitled_call(node))


def _is_untitled_call(node: Node) -> bool:
    return _is_of_a_prompt(node) or any(map(tells_content, node.events))


def is_first_frame(node: Node) -> bool:
    """Whether a span around calls is one that version 1 of the adapter knew for one."""
    return (
        any(text(node.span.attributes.get(name)) in kinds for name, kinds in KINDS if name in FIRST_KINDS)
        and text(node.span.attributes.get(FIRST_KINDS[0])) not in LATER_TURNS
    )


def stated_kind(held: Mapping[str, Any], name: str) -> Kind:
    """The kind that a span states, by the first of its attributes whose value is known, else by its name."""
    for attribute, kinds in KINDS:
        if (value := held.get(attribute)) is not None:
            kind = kinds.get(text(parse_json_value(value)))  # MLflow writes each value as JSON
            if kind is not None:
                return kind
    return NAMED.get(name, "other")


def _is_of_a_prompt(node: Node) -> bool:
    return any(key.startswith("gen_ai.prompt.") for key in node.span.attributes)
