"""What a span asked and answered, wherever it stands: in attributes, in events, in log records, flat or as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from slowwave.transforms.core.blank import says_nothing
from slowwave.transforms.imports.asked import Said, answered, asked, text_of
from slowwave.transforms.imports.otlp.spans import Event, Node
from slowwave.transforms.imports.otlp.values import numbered, parsed

# What OpenInference writes where inputs or outputs are hidden.
_HIDDEN = "__REDACTED__"
_DEEPEST = 6


@dataclass(frozen=True)
class Message:
    """A message, with its content as it was written: a text, or parts of any kind."""

    role: str
    content: Any

    @property
    def text(self) -> str:
        """What was said, without what is no text."""
        return text_of(self.content)

    @property
    def read(self) -> str:
        """All that the model read with it, results of tools included."""
        return _all_text(self.content)


@dataclass(frozen=True, eq=False)
class Content:
    """The texts of one span."""

    node: Node

    @cached_property
    def inputs(self) -> list[Message]:
        """The messages of the input, in their order, the whole history with them."""
        node = self.node
        held = node.span.attributes
        return (
            list(_from_json(held.get("gen_ai.input.messages"), "user"))
            or list(_from_details(node.events, "gen_ai.input.messages", "user"))
            or list(_from_events(node.events))
            or list(_flat(numbered(held, "llm.input_messages."), "message."))
            or list(_flat(numbered(held, "gen_ai.prompt."), ""))
        )

    @cached_property
    def prompt(self) -> Said | None:
        """The last text of the user's, None where there is none."""
        texts = (message.text for message in reversed(self.inputs) if message.role == "user")
        said = next((text for text in texts if not says_nothing(text)), None)
        if said is not None:
            return Said(said)
        return None if self.inputs else _value(self.node.span.attributes, "input", asked)

    @cached_property
    def response(self) -> Said | None:
        """What the model answered: its choices, each once; without what it thought, called or was told by a tool."""
        node = self.node
        held = node.span.attributes
        messages = (
            list(_from_json(held.get("gen_ai.output.messages"), "assistant"))
            or list(_from_details(node.events, "gen_ai.output.messages", "assistant"))
            or list(_choices(node.events))
            or list(_flat(numbered(held, "llm.output_messages."), "message."))
            or list(_flat(numbered(held, "gen_ai.completion."), "", "assistant"))
        )
        said = (message.text for message in messages if message.role == "assistant")
        texts = [text for text in said if not says_nothing(text)]
        if texts:
            return Said("\n\n".join(dict.fromkeys(texts)))
        return None if messages else _value(held, "output", answered)

    @cached_property
    def goes_on(self) -> bool:
        """Whether the input goes on after what the user said last: a further call of the same turn."""
        last = self.inputs[-1] if self.inputs else None
        return last is not None and (last.role != "user" or says_nothing(last.text))

    @cached_property
    def read(self) -> str:
        """All that the model read: its instructions and the whole input."""
        held = self.node.span.attributes
        texts = [m.read for m in self.inputs]
        instructions = [held, *(event.attributes for event in self.node.events)]
        texts += [_all_text(parsed(one.get("gen_ai.system_instructions"))) for one in instructions]
        if not self.inputs:
            texts.append(_all_text(held.get("input.value")))
        return "\n".join(text for text in texts if text)


def _value(held: Mapping[str, Any], side: str, read: Any) -> Said | None:  # noqa: ANN401
    """OpenInference's `input.value` or `output.value`, which may be JSON as text."""
    value = held.get(f"{side}.value")
    if value == _HIDDEN:
        return None
    said = read(parsed(value) if held.get(f"{side}.mime_type") == "application/json" else value)
    return None if said is None or says_nothing(said.text) else said


def _from_json(value: Any, role: str) -> Iterator[Message]:  # noqa: ANN401
    """Messages as the conventions have them since 1.37; one without a role is the side's own."""
    messages = parsed(value)
    for message in messages if isinstance(messages, list) else ():
        if not isinstance(message, dict):
            continue
        parts = message.get("parts", message.get("content"))
        yield Message(str(message.get("role") or role).lower(), parts)


def _from_details(events: Iterable[Event], name: str, role: str) -> Iterator[Message]:
    for event in events:
        if event.name == "gen_ai.client.inference.operation.details":
            held = event.body if isinstance(event.body, dict) else {}
            yield from _from_json(event.attributes.get(name, held.get(name)), role)


def _from_events(events: Iterable[Event]) -> Iterator[Message]:
    """Messages as one event each, as the conventions had them up to 1.36."""
    for event in events:
        role, _, what = event.name.removeprefix("gen_ai.").partition(".")
        if what == "message" and event.name.startswith("gen_ai."):
            yield Message(role, _body(event).get("content"))


def _choices(events: Iterable[Event]) -> Iterator[Message]:
    for event in events:
        if event.name == "gen_ai.choice":
            body = _body(event)
            message = parsed(body.get("message"))
            content = message.get("content") if isinstance(message, dict) else message or body.get("content")
            yield Message("assistant", content)


def _body(event: Event) -> dict[str, Any]:
    body = event.body if event.body is not None else parsed(event.attributes.get("gen_ai.event.content"))
    return body if isinstance(body, dict) else {**event.attributes}


def _flat(messages: Iterable[Mapping[str, Any]], prefix: str, role: str = "user") -> Iterator[Message]:
    for message in messages:
        content = message.get(f"{prefix}content")
        said = text_of(parsed(content)) if isinstance(content, str) and content.startswith("[{") else ""
        parts = (part.get("message_content.text") for part in numbered(message, f"{prefix}contents."))
        text = "\n".join(one for one in (said or content, *parts) if one and isinstance(one, str))
        yield Message(str(message.get(f"{prefix}role") or role).lower(), "" if text == _HIDDEN else text)


def _all_text(value: Any, depth: int = 0) -> str:  # noqa: ANN401
    """Every text in it, however it is nested."""
    if isinstance(value, str):
        return value
    if depth > _DEEPEST:
        return ""
    if isinstance(value, dict):
        value = [*value.values()]
    if isinstance(value, list):
        return "\n".join(text for text in (_all_text(one, depth + 1) for one in value) if text)
    return ""
