"""Turns that coding agents tell in events of their own: the log records of Claude Code and Gemini CLI.

Each event tells a part: the prompt, an answer, what a request took. Those of one turn become one span with the
attributes of `conventions`; where the agent wrote a span of the turn too, they fill in what that does not say.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from slowwave.transforms.core.exact_json import parse_json_value
from slowwave.transforms.imports.otlp.clients import (
    DETAILS,
    Client,
    client_of,
    client_of_scope,
    digest_of,
    is_talk,
    session_of,
)
from slowwave.transforms.imports.otlp.conventions import HIDDEN
from slowwave.transforms.imports.otlp.spans import Event, Span
from slowwave.transforms.imports.otlp.values import number, text, whole

TWICE = "details of a call that events of its turn tell too"
_TOP = frozenset({"claude_code.interaction", "user_prompt"})
_DEEPEST = 100


@dataclass(frozen=True)
class ClientTurns:
    """Spans and events of a trace with the turns of clients as spans; `twice` events said what these say."""

    spans: Sequence[Span]
    events: Sequence[Event]
    twice: int = 0


def add_client_turns(trace_id: str, spans: Sequence[Span], events: Sequence[Event]) -> ClientTurns:
    """Return the spans of a trace with those that clients tell by events, and its other events."""
    own = {(one.at, one.name + repr(one.attributes)): one for one in events if client_of(one.name)}
    if not own:
        return ClientTurns(spans, events)
    by_id = {span.span_id: span for span in spans}
    details: list[Event] = []
    others: list[Event] = []
    for event in events:
        if not client_of(event.name):
            is_detail = event.name == DETAILS and event.span_id not in by_id and client_of_scope(event.origin.scope)
            (details if is_detail else others).append(event)
    turns = _turns(own[key] for key in sorted(own))
    first_calls = _first_calls([*turns.values()], details)
    texts: dict[str, dict[str, Any]] = {}
    made: list[Span] = []
    for place, ((client, key), group) in enumerate(turns.items()):
        attributes, top = _attributes(client, group), _top(group, by_id)
        if top is not None:
            texts[top.span_id] = attributes
            continue
        # as version 1 called the turn, by the first of its calls
        own_id = (first_calls.get(place) if group[0].span_id else None) or digest_of(f"{client.called} {key}", 8)
        name, began, ended = f"{client.prefix}interaction", group[0].at, group[-1].at
        made.append(
            Span(trace_id, own_id, "", name, began, ended, attributes, tuple(group), (), "", group[0].origin, 0,
                 is_told_by_logs=True)
        )  # fmt: skip
    filled = [_with(span, texts[span.span_id]) if span.span_id in texts else span for span in spans]
    if not made:
        return ClientTurns(filled, [*others, *details])
    return ClientTurns([*filled, *made], others, len(details))


def _first_calls(turns: Sequence[Sequence[Event]], details: Iterable[Event]) -> dict[int, str]:
    """The span of the first call in each turn, by its place: those from its first event to that of the next turn."""
    begins = [group[0].at for group in turns]
    found: dict[int, str] = {}
    for event in sorted(details, key=lambda event: (event.at, event.span_id)):
        place = bisect_right(begins, event.at) - 1
        if place >= 0:
            found.setdefault(place, event.span_id)
    return found


def _turns(events: Iterable[Event]) -> dict[tuple[Client, str], list[Event]]:
    """The events of each turn; one that names none is of the turn that was asked last in its session."""
    found: dict[tuple[Client, str], list[Event]] = {}
    latest: dict[str, str] = {}
    for event in events:
        client = client_of(event.name)
        if client is None:
            continue
        session = session_of(event.attributes)
        key = text(event.attributes.get(client.turn))
        if not key:
            if event.name == client.prefix + client.asked[0]:
                latest[session] = f"{session} {event.at}"
            key = latest.get(session, session)
        found.setdefault((client, key), []).append(event)
    return found


def _top(group: Iterable[Event], by_id: Mapping[str, Span]) -> Span | None:
    """The span of a turn, if there is one: that of an event, or the topmost above that is a turn of a client's."""
    for event in group:
        span, found = by_id.get(event.span_id), None
        for _ in range(_DEEPEST):
            if span is None:
                break
            found = span if span.name in _TOP else found
            span = by_id.get(span.parent_id)
        if found is not None:
            return found
    return None


def _attributes(client: Client, group: Sequence[Event]) -> dict[str, Any]:
    """What the events of a turn say, under the names of `conventions`."""

    def named(name: str) -> list[Mapping[str, Any]]:
        return [event.attributes for event in group if event.name == client.prefix + name]

    prompts = [said for one in named(client.asked[0]) if (said := _text(one.get(client.asked[1])))]
    talk = [one for one in named(client.answered[0]) if is_talk(one)]
    answers = [said for one in talk if (said := _text(one.get(client.answered[1])))]
    spent = named(client.spent)
    tokens = [found for one in spent for name in client.tokens if (found := whole(one.get(name))) is not None]
    costs = [found for one in spent if client.cost and (found := number(one.get(client.cost))) is not None]
    held: dict[str, Any] = {
        "user_prompt": "\n\n".join(dict.fromkeys(prompts)),
        "response.model_output": "\n\n".join(dict.fromkeys(answers)),
        "gen_ai.usage.total_tokens": sum(tokens) if tokens else None,
        "gen_ai.usage.cost": sum(costs) if costs else None,
    }
    held["session.id"] = next((said for event in group if (said := session_of(event.attributes))), None)
    for name in ("user.id", "model"):
        held[name] = next((said for event in group if (said := text(event.attributes.get(name)))), None)
    return {name: value for name, value in held.items() if value not in (None, "")}


def _text(value: Any) -> str:  # noqa: ANN401
    """A text that is to be seen; of Gemini's responses as JSON, in pieces or whole, the text in them."""
    if not isinstance(value, str) or value in HIDDEN:
        return ""
    held = parse_json_value(value)
    if isinstance(held, str):
        return held
    pieces = [one for one in (held if isinstance(held, list) else [held]) if isinstance(one, dict)]
    if not any("candidates" in one for one in pieces):
        return value
    return "".join(_candidate_text(one) for one in pieces)


def _candidate_text(response: Mapping[str, Any]) -> str:
    candidates = response.get("candidates")
    first = candidates[0] if isinstance(candidates, list) and candidates else None
    content = first.get("content") if isinstance(first, dict) else None
    parts = content.get("parts") if isinstance(content, dict) else None
    return "".join(
        part["text"]
        for part in (parts if isinstance(parts, list) else ())
        if isinstance(part, dict) and isinstance(part.get("text"), str) and not part.get("thought")
    )


def _with(span: Span, stated: Mapping[str, Any]) -> Span:
    """A span with the texts that events tell and it does not."""
    held = span.attributes
    texts = {name: stated[name] for name in ("user_prompt", "response.model_output") if name in stated}
    return replace(span, attributes=held | {name: said for name, said in texts.items() if _is_hidden(held.get(name))})


def _is_hidden(value: Any) -> bool:  # noqa: ANN401
    return value is None or (isinstance(value, str) and value in HIDDEN)
