"""Turns of a trace: what was asked and answered in its spans, and the memories that were searched and changed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from slowwave.transforms.core.blank import says_nothing
from slowwave.transforms.core.exact_json import parse_json_value
from slowwave.transforms.imports.adapter import LeftOut, Made, Refused, Row
from slowwave.transforms.imports.otlp.conventions import (
    COSTS,
    HIDDEN,
    INPUT_MESSAGES,
    INPUTS,
    OUTPUT_MESSAGES,
    OUTPUTS,
    RESPONSE_IDS,
    TOKEN_OBJECTS,
    TOKENS,
    Flat,
    Kind,
    SpanMessage,
    flat_messages,
    instant,
    is_talk,
    messages_in_json,
    number_value,
    numbered_objects,
    parsed_parts,
    text_value,
    whole_value,
)
from slowwave.transforms.imports.otlp.spans import (
    OtlpTrace,
    SpanEvent,
    SpanNode,
    is_first_call,
    is_first_frame,
    kind_of,
)
from slowwave.transforms.imports.trace_values import (
    USER_ROLES,
    MemoryRecord,
    TracedText,
    answer_in,
    every_text,
    ids_in_text,
    memory_record,
    question_in,
)

# ------------------------------------------------------------------------------------------
# What a span asked and answered, wherever it stands: in attributes, in events, in log records, flat or as JSON.

_DEEPEST = 6  # of texts within texts
# Who else speaks among the messages of an output. Gemini's own role for itself is `model`, and Gemini CLI's `system`.
_OTHERS = USER_ROLES | {"tool", "function", "developer"}


@dataclass(frozen=True, eq=False)
class SpanContent:
    """The texts of one span."""

    node: SpanNode

    @cached_property
    def inputs(self) -> list[SpanMessage]:
        """The messages of the input, in their order, the whole history with them."""
        events = self.node.events
        return (
            _first_messages(self.node, INPUT_MESSAGES, "user")
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
        return None if self.inputs else _content_value(self.node.span.attributes, INPUTS, question_in)

    @cached_property
    def response(self) -> TracedText | None:
        """What the model answered: its choices, each once; without what it thought, called or was told by a tool."""
        if not is_talk(self.node.span.attributes):
            return None
        events = self.node.events
        messages = (
            _first_messages(self.node, OUTPUT_MESSAGES, "assistant")
            or list(_from_details(events, "gen_ai.output.messages", "assistant"))
            or list(_choices(events))
        )
        texts = [message.text for message in messages if message.role not in _OTHERS]
        texts = [text for text in texts if not says_nothing(text)]
        if texts:
            return TracedText("\n\n".join(dict.fromkeys(texts)))
        return None if messages else _content_value(self.node.span.attributes, OUTPUTS, answer_in)

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
        texts += [every_text(parse_json_value(one.get("gen_ai.system_instructions")), _DEEPEST) for one in instructions]
        if not self.inputs:
            texts += [every_text(held.get(name), _DEEPEST) for name in INPUTS]
        return "\n".join(text for text in texts if text)


def _first_messages(node: SpanNode, places: Iterable[str | Flat], role: str) -> list[SpanMessage]:
    """The messages in the first of some places that has any."""
    held = node.span.attributes
    for place in places:
        found = flat_messages(held, place, role) if isinstance(place, Flat) else messages_in_json(held.get(place), role)
        if messages := [*found]:
            return messages
    return []


def _content_value(held: Mapping[str, Any], names: Iterable[str], read: Any) -> TracedText | None:  # noqa: ANN401
    """What was said in the first of some attributes that says anything, which may be JSON as text."""
    for name in names:
        if (value := held.get(name)) is None or (isinstance(value, str) and value in HIDDEN):
            continue
        is_text = name.endswith(".value") and held.get(name.replace(".value", ".mime_type")) != "application/json"
        said = read(value if is_text else parse_json_value(value))
        if said is not None and not says_nothing(said.text):
            return said
    return None


def _from_details(events: Iterable[SpanEvent], name: str, role: str) -> Iterator[SpanMessage]:
    for event in events:
        if event.name == "gen_ai.client.inference.operation.details":
            held = event.body if isinstance(event.body, dict) else {}
            yield from messages_in_json(event.attributes.get(name, held.get(name)), role)


def _from_events(events: Iterable[SpanEvent]) -> Iterator[SpanMessage]:
    """Messages as one event each, as the conventions had them up to 1.36."""
    for event in events:
        role, _, what = event.name.removeprefix("gen_ai.").partition(".")
        if what == "message" and event.name.startswith("gen_ai."):
            yield SpanMessage(role, parsed_parts(_body(event).get("content")))


def _choices(events: Iterable[SpanEvent]) -> Iterator[SpanMessage]:
    for event in events:
        if event.name == "gen_ai.choice":
            body = _body(event)
            message = parse_json_value(body.get("message"))
            content = message.get("content") if isinstance(message, dict) else message or body.get("content")
            yield SpanMessage("assistant", content)


def _body(event: SpanEvent) -> dict[str, Any]:
    body = event.body if event.body is not None else parse_json_value(event.attributes.get("gen_ai.event.content"))
    return body if isinstance(body, dict) else {**event.attributes}


@dataclass(eq=False)
class PromptParts:
    """An interaction: its span, its question, and its spans in the order of their start, the first one included."""

    node: SpanNode
    prompt: TracedText
    nodes: list[SpanNode] = field(default_factory=list)


@dataclass(frozen=True)
class TurnText:
    """A trace with what its spans are. `mute`: spans that would be interactions and have no text.

    `judging`: calls of a model that judge an interaction or guard it, and are none. `spare`: spans that are of none of
    these, nor above one.
    """

    trace: OtlpTrace
    kinds: Mapping[SpanNode, Kind]
    contents: Mapping[SpanNode, SpanContent]
    interactions: list[PromptParts]
    owner: Mapping[SpanNode, PromptParts]
    mute: list[SpanNode]
    judging: list[SpanNode]
    spare: list[SpanNode]


def interpret_trace(trace: OtlpTrace, memory_stores: Collection[str]) -> TurnText:
    """What the spans of a trace are, and which interaction each belongs to."""
    kinds: dict[SpanNode, Kind] = {node: kind_of(node, memory_stores) for node in trace.nodes}
    contents = {node: SpanContent(node) for node in trace.nodes if kinds[node] in {"turn", "chain", "call"}}
    below = _Below(trace, kinds, contents)
    owner: dict[SpanNode, PromptParts] = {}
    found: list[PromptParts] = []
    mute: list[SpanNode] = []
    judging: list[SpanNode] = []
    judges: set[SpanNode] = set()
    for node in trace.nodes:
        above = owner.get(node.parent) if node.parent else None
        if above is not None and not _is_asked_anew(node, above, kinds, contents):
            owner[node] = above
        elif kinds[node] == "judge" or node.parent in judges:
            judges.add(node)
            judging += [node] if kinds[node] == "call" else []
        elif node in contents:
            said = _prompt(node, kinds[node], contents, below)
            if said is not None:
                owner[node] = PromptParts(node, said)
                found.append(owner[node])
            elif kinds[node] in {"turn", "call"} and node not in below.calls:
                mute.append(node)
    told_twice = {response_id(node) for node in owner} - {""}
    above_asked = {above for one in found for above in _above(one.node)}
    mute = [node for node in mute if response_id(node) not in told_twice and node not in above_asked]
    found = _join_calls(found, kinds, contents, owner)
    for node in trace.nodes:
        if node in owner:
            owner[node].nodes.append(node)
    for one in found:
        one.nodes.sort(key=lambda node: (node.span.started, node.span.span_id))
    told = [*owner, *mute, *judging]
    known = {*told, *(above for node in told for above in _above(node))}
    spare = [node for node in trace.nodes if node not in known and response_id(node) not in told_twice]
    return TurnText(trace, kinds, contents, found, owner, mute, judging, spare)


def response_id(node: SpanNode) -> str:
    """The id that the provider gave to an answer, by either convention."""
    held = node.span.attributes
    if found := next((said for name in RESPONSE_IDS if (said := text_value(held.get(name)))), ""):
        return found
    if held.get("output.mime_type") == "application/json" and isinstance(
        body := parse_json_value(held.get("output.value")), dict
    ):
        return text_value(body.get("id"))
    return ""


def _above(node: SpanNode) -> Iterator[SpanNode]:
    while node.parent is not None:
        node = node.parent
        yield node


class _Below:
    """What lies below each span: its first call that has a question, whether a call, and a turn with its own text.

    `first_calls`: whether a call with a question lies below that is an interaction in homes of version 1. A span that
    version 1 did not know leaves it to that, so that nothing is there twice.
    """

    def __init__(
        self, trace: OtlpTrace, kinds: Mapping[SpanNode, Kind], contents: Mapping[SpanNode, SpanContent]
    ) -> None:
        self.asking: dict[SpanNode, SpanNode] = {}
        self.calls: set[SpanNode] = set()
        self.first_calls: set[SpanNode] = set()
        self.told: set[SpanNode] = set()
        for node in reversed(trace.nodes):
            for child in node.children:
                if kinds[child] == "call" or child in self.calls:
                    self.calls.add(node)
                if child in self.first_calls or (
                    is_first_call(child) and kinds[child] == "call" and contents[child].prompt
                ):
                    self.first_calls.add(node)
                if child in self.told or (kinds[child] in {"turn", "chain"} and contents[child].prompt is not None):
                    self.told.add(node)
                first = child if kinds[child] == "call" and contents[child].prompt else self.asking.get(child)
                if first is not None and (node not in self.asking or _start(first) < _start(self.asking[node])):
                    self.asking[node] = first


def _prompt(node: SpanNode, kind: Kind, contents: Mapping[SpanNode, SpanContent], below: _Below) -> TracedText | None:
    """The question of a span, if it may be an interaction; that of its first call where a turn has no own text."""
    own = contents[node].prompt
    if node in below.first_calls and not is_first_frame(node):
        return None
    if kind == "chain":  # of glue around something else, only what has a model below, or all else
        return own if node.parent is None or node in below.calls else None
    if own is None and kind == "turn" and node not in below.told and node in below.asking:
        return contents[below.asking[node]].prompt
    return own


def _is_asked_anew(
    node: SpanNode, above: PromptParts, kinds: Mapping[SpanNode, Kind], contents: Mapping[SpanNode, SpanContent]
) -> bool:
    """Whether a call below a call asks something else than that one."""
    if kinds[node] != "call" or kinds[above.node] != "call":
        return False
    said = contents[node].prompt
    return said is not None and said.text != above.prompt.text


def _join_calls(
    found: list[PromptParts],
    kinds: Mapping[SpanNode, Kind],
    contents: Mapping[SpanNode, SpanContent],
    owner: dict[SpanNode, PromptParts],
) -> list[PromptParts]:
    """Calls of the same turn as one: those that go on, those after an error, and those with the same answer's id."""
    first: dict[str, PromptParts] = {}
    by_answer: dict[str, PromptParts] = {}
    last: dict[PromptParts, SpanNode] = {}
    into: dict[PromptParts, PromptParts] = {}
    for one in sorted(found, key=lambda one: _start(one.node)):
        if kinds[one.node] != "call":
            continue
        answer = response_id(one.node)
        same = by_answer.get(answer) if answer else None
        earlier = first.get(one.prompt.text)
        if same is None and earlier and (contents[one.node].goes_on or last[earlier].span.error):
            same = earlier
        if same is None:
            first[one.prompt.text] = same = one
        else:
            into[one] = same
        last[same] = one.node
        if answer:
            by_answer.setdefault(answer, same)
    for node, asked in [*owner.items()]:
        owner[node] = into.get(asked, asked)
    return [one for one in found if one not in into]


def _start(node: SpanNode) -> tuple[int, str]:
    return node.span.started, node.span.span_id


# ------------------------------------------------------------------------------------------
# Memories in a trace: which a search offered, which were put before the model, and what was written to the store.


def records_of(node: SpanNode) -> list[MemoryRecord]:
    """The records of a span, in their order: memories, or documents of a retrieval."""
    held = node.span.attributes
    for name in ("gen_ai.memory.records", "gen_ai.retrieval.documents"):
        if isinstance(found := parse_json_value(held.get(name)), list):
            return [memory_record(one) for one in found if isinstance(one, dict)]
    documents = numbered_objects(held, "retrieval.documents.")
    return [memory_record({key.removeprefix("document."): value for key, value in one.items()}) for one in documents]


@dataclass(frozen=True)
class SpanMemories:
    """What an interaction has of memories; `injection` is how they are known to have been used."""

    offered: list[dict[str, Any]]
    used: list[str]
    injection: str
    searches: int


def memories_of(asked: PromptParts, read: TurnText, searches: list[SpanNode]) -> SpanMemories:
    """Offered is what the searches found. Used is what a later call of the model read, word for word.

    Where that cannot be seen, the records of a search right below the agent's span are assumed to be used: it searches
    to answer. One that a tool or the model itself asked for is not.
    """
    offered: dict[str, dict[str, Any]] = {}
    used: dict[str, None] = {}
    ways: set[str] = set()
    for node in searches:
        records = [one for one in records_of(node) if one.id]
        for place, one in enumerate(records, 1):
            offered.setdefault(one.id, {"id": one.id, "rank": place, "score": one.score})
        later = "\n".join(
            read.contents[call].read
            for call in asked.nodes
            if read.kinds[call] == "call" and call.span.started >= node.span.ended
        )
        seen = ids_in_text(records, later)
        if seen is not None:
            ways.add("observed")
            used |= dict.fromkeys(seen)
        elif records and node.parent is not None and read.kinds[node.parent] == "turn":
            ways.add("assumed")
            used |= {one.id: None for one in records}
    injection = ways.pop() if len(ways) == 1 else "mixed" if ways else ""
    return SpanMemories([*offered.values()], [*used], injection, len(searches))


def searches_of(read: TurnText, kind: str) -> tuple[dict[PromptParts, list[SpanNode]], int]:
    """The searches (or retrievals) of each interaction, and how many were before none.

    A search belongs to the interaction that it is a part of, else to the next one that starts after it in the trace.
    """
    found: dict[PromptParts, list[SpanNode]] = {}
    before_none = 0
    for node in sorted((n for n in read.trace.nodes if read.kinds[n] == kind), key=lambda n: (n.span.started, n.id)):
        asked = read.owner.get(node)
        if asked is None:
            later = [one for one in read.interactions if one.node.span.started >= node.span.ended]
            asked = min(later, key=lambda one: (one.node.span.started, one.node.id), default=None)
        if asked is None:
            before_none += 1
        elif not node.span.error:
            found.setdefault(asked, []).append(node)
    return found, before_none


def memory_changes(node: SpanNode, project: str) -> Iterator[Made]:
    """The rows of what a span wrote to a memory store, one for each record."""
    held = node.span.attributes
    operation = text_value(held.get("gen_ai.operation.name"))
    if node.span.error:
        yield LeftOut("changes of a memory that failed", example=f"{operation}: {node.span.error}"[:200])
        return
    records = records_of(node)
    named = [one for one in records if one.id]
    own = text_value(held.get("gen_ai.memory.record.id"))
    if own and not any(one.id == own for one in named):
        nameless = next((one for one in records if not one.id), MemoryRecord("", "", None, None))
        named.insert(0, replace(nameless, id=own))
    yield from (_memory_change(node, operation, one, project) for one in named)
    if not named:
        why = "it names no record: set gen_ai.memory.record.id, or an id in each of gen_ai.memory.records"
        if operation.startswith("delete"):
            why = "it deletes a whole store, and does not name the memories that were in it"
        yield Refused(node.span.number, f"a span {operation} makes no row: {why}", _describe_node(node))


def _memory_change(node: SpanNode, operation: str, one: MemoryRecord, project: str) -> Row:
    """The row of a change, made of its span alone: the same whatever else of the trace is known."""
    held = node.span.attributes
    is_gone = operation == "delete_memory"
    fields = {
        "memory_id": one.id,
        "changed_at": instant(node.span.ended),
        "recorded_at": instant(node.span.ended),
        "project": project,
        "status": "archived" if is_gone else "active",
        "content": None if is_gone else one.content or None,
        "reason": "deleted" if is_gone else None,
        "user_id": text_value(held.get("user.id") or held.get("enduser.id")) or None,
        "changed_by": text_value(held.get("gen_ai.agent.name")) or None,
        "store": text_value(held.get("gen_ai.memory.store.id")) or None,
        "metadata": one.metadata or None,
        "span": node.id,
    }
    return Row({name: value for name, value in fields.items() if value is not None}, (node.id, node.id), _client(node))


def _client(node: SpanNode) -> str:
    return "/".join(filter(None, (node.span.origin.scope, node.span.origin.scope_version)))


def _describe_node(node: SpanNode) -> str:
    return f"{node.id} {node.span.name} {node.span.attributes}"[:2000]


def tokens_of_span(node: SpanNode) -> int | None:
    """Return the tokens that a span states; None where it states none."""
    held = node.span.attributes
    objects = [parse_json_value(held.get(name)) for name in TOKEN_OBJECTS]
    for counts in [*(one for one in objects if isinstance(one, dict)), held]:
        for names in TOKENS:
            parts = [found for name in names if (found := whole_value(counts.get(name))) is not None]
            if parts:
                return max(sum(parts), 0)
    return None


def cost_of_span(node: SpanNode) -> float | None:
    """Return the cost that a span states; None where it states none."""
    held = node.span.attributes
    return next((found for name in COSTS if (found := number_value(held.get(name))) is not None), None)
