"""What a span asked and answered, wherever it stands: in attributes, in events, in log records, flat or as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from slowwave.transforms.core.blank import says_nothing
from slowwave.transforms.core.exact_json import parse_json_value
from slowwave.transforms.imports.otlp.clients import is_talk
from slowwave.transforms.imports.otlp.conventions import (
    HIDDEN,
    INPUT_MESSAGES,
    INPUTS,
    OUTPUT_MESSAGES,
    OUTPUTS,
    Flat,
)
from slowwave.transforms.imports.otlp.spans import Event, Node
from slowwave.transforms.imports.otlp.values import numbered
from slowwave.transforms.imports.trace_values import USER_ROLES, TracedText, answer_in, question_in, text_of

_DEEPEST = 6
# Who else speaks among the messages of an output. Gemini's own role for itself is `model`, and Gemini CLI's `system`.
_OTHERS = USER_ROLES | {"tool", "function", "developer"}


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
        events = self.node.events
        return (
            _stated(self.node, INPUT_MESSAGES, "user")
            or list(_from_details(events, "gen_ai.input.messages", "user"))
            or list(_from_events(events))
        )

    @cached_property
    def prompt(self) -> TracedText | None:
        """The last text of the user's, None where there is none."""
        texts = (message.text for message in reversed(self.inputs) if message.role in USER_ROLES)
        said = next((text for text in texts if not says_nothing(text)), None)
        if said is not None:
            return TracedText(said)
        return None if self.inputs else _value(self.node.span.attributes, INPUTS, question_in)

    @cached_property
    def response(self) -> TracedText | None:
        """What the model answered: its choices, each once; without what it thought, called or was told by a tool."""
        if not is_talk(self.node.span.attributes):
            return None
        events = self.node.events
        messages = (
            _stated(self.node, OUTPUT_MESSAGES, "assistant")
            or list(_from_details(events, "gen_ai.output.messages", "assistant"))
            or list(_choices(events))
        )
        texts = [message.text for message in messages if message.role not in _OTHERS]
        texts = [text for text in texts if not says_nothing(text)]
        if texts:
            return TracedText("\n\n".join(dict.fromkeys(texts)))
        return None if messages else _value(self.node.span.attributes, OUTPUTS, answer_in)

    @cached_property
    def goes_on(self) -> bool:
        """Whether the input goes on after what the user said last: a further call of the same turn."""
        last = self.inputs[-1] if self.inputs else None
        return last is not None and (last.role not in USER_ROLES or says_nothing(last.text))

    @cached_property
    def read(self) -> str:
        """All that the model read: its instructions and the whole input."""
        held = self.node.span.attributes
        texts = [m.read for m in self.inputs]
        instructions = [held, *(event.attributes for event in self.node.events)]
        texts += [_all_text(parse_json_value(one.get("gen_ai.system_instructions"))) for one in instructions]
        if not self.inputs:
            texts += [_all_text(held.get(name)) for name in INPUTS]
        return "\n".join(text for text in texts if text)


def _stated(node: Node, places: Iterable[str | Flat], role: str) -> list[Message]:
    """The messages in the first of some places that has any."""
    held = node.span.attributes
    for place in places:
        found = _flat(held, place, role) if isinstance(place, Flat) else _from_json(held.get(place), role)
        if messages := [*found]:
            return messages
    return []


def _value(held: Mapping[str, Any], names: Iterable[str], read: Any) -> TracedText | None:  # noqa: ANN401
    """What was said in the first of some attributes that says anything, which may be JSON as text."""
    for name in names:
        if (value := held.get(name)) is None or (isinstance(value, str) and value in HIDDEN):
            continue
        is_text = name.endswith(".value") and held.get(name.replace(".value", ".mime_type")) != "application/json"
        said = read(value if is_text else parse_json_value(value))
        if said is not None and not says_nothing(said.text):
            return said
    return None


def _from_json(value: Any, role: str) -> Iterator[Message]:  # noqa: ANN401
    """Messages as the conventions have them since 1.37; one without a role, and a text alone, is the side's own."""
    messages = parse_json_value(value)
    if isinstance(messages, str) and not says_nothing(messages) and messages not in HIDDEN:
        yield Message(role, messages)
    held = [one for one in (messages if isinstance(messages, list) else [messages]) if isinstance(one, dict)]
    if len(held) > 1 and role == "assistant" and all(map(_is_piece, held)):
        yield Message("model", "".join(text_of(one["parts"]) for one in held))
        return
    for message in held:
        parts = message.get("parts", message.get("content", [message]))
        yield Message(str(message.get("role") or role).lower(), parts)


def _is_piece(message: Mapping[str, Any]) -> bool:
    """Whether it is Gemini's own form of a message, of which an answer that was streamed has many."""
    parts = message.get("parts")
    return (
        message.get("role") in {"model", None}
        and isinstance(parts, list)
        and all(isinstance(part, dict) and "type" not in part for part in parts)
    )


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
            yield Message(role, _opened(_body(event).get("content")))


def _choices(events: Iterable[Event]) -> Iterator[Message]:
    for event in events:
        if event.name == "gen_ai.choice":
            body = _body(event)
            message = parse_json_value(body.get("message"))
            content = message.get("content") if isinstance(message, dict) else message or body.get("content")
            yield Message("assistant", content)


def _body(event: Event) -> dict[str, Any]:
    body = event.body if event.body is not None else parse_json_value(event.attributes.get("gen_ai.event.content"))
    return body if isinstance(body, dict) else {**event.attributes}


def _flat(held: Mapping[str, Any], place: Flat, role: str) -> Iterator[Message]:
    for message in numbered(held, place.prefix):
        content = message.get(f"{place.field}content", message.get(f"{place.field}text"))
        parts = [part.get("message_content.text") for part in numbered(message, f"{place.field}contents.")]
        parts += [part.get("text") for part in numbered(message, f"{place.field}content.")]
        said = [text_of(_opened(content)), *(part for part in parts if isinstance(part, str))]
        text = "\n".join(one for one in said if one)
        yield Message(str(message.get(f"{place.field}role") or role).lower(), "" if text in HIDDEN else text)


def _opened(content: Any) -> Any:  # noqa: ANN401
    """The parts of a message that are JSON as text; any other content as it is."""
    if not (isinstance(content, str) and content.startswith("[{")):
        return content
    parts = parse_json_value(content)
    return parts if text_of(parts) else content


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
