"""Which spans of a trace are interactions, and which spans belong to each.

The topmost turn of an agent (or workflow, or chain) that has text, with all below it. Else each call of a model; the
further calls of a turn, with results of tools or after an error, belong to its first, and so does a call noted twice.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from slowwave.transforms.core.exact_json import parse_json_value
from slowwave.transforms.imports.otlp.content import Content
from slowwave.transforms.imports.otlp.conventions import RESPONSE_IDS, Kind
from slowwave.transforms.imports.otlp.kinds import is_first_call, is_first_frame, kind_of
from slowwave.transforms.imports.otlp.spans import Node, Trace
from slowwave.transforms.imports.otlp.values import text
from slowwave.transforms.imports.trace_values import TracedText


@dataclass(eq=False)
class Asked:
    """An interaction: its span, its question, and its spans in the order of their start, the first one included."""

    node: Node
    prompt: TracedText
    nodes: list[Node] = field(default_factory=list)


@dataclass(frozen=True)
class Read:
    """A trace with what its spans are. `mute`: spans that would be interactions and have no text.

    `judging`: calls of a model that judge an interaction or guard it, and are none. `spare`: spans that are of none of
    these, nor above one.
    """

    trace: Trace
    kinds: Mapping[Node, Kind]
    contents: Mapping[Node, Content]
    interactions: list[Asked]
    owner: Mapping[Node, Asked]
    mute: list[Node]
    judging: list[Node]
    spare: list[Node]


def understood(trace: Trace, memory_stores: Collection[str]) -> Read:
    """What the spans of a trace are, and which interaction each belongs to."""
    kinds: dict[Node, Kind] = {node: kind_of(node, memory_stores) for node in trace.nodes}
    contents = {node: Content(node) for node in trace.nodes if kinds[node] in {"turn", "chain", "call"}}
    below = _Below(trace, kinds, contents)
    owner: dict[Node, Asked] = {}
    found: list[Asked] = []
    mute: list[Node] = []
    judging: list[Node] = []
    judges: set[Node] = set()
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
                owner[node] = Asked(node, said)
                found.append(owner[node])
            elif kinds[node] in {"turn", "call"} and node not in below.calls:
                mute.append(node)
    told_twice = {response_id(node) for node in owner} - {""}
    above_asked = {above for one in found for above in _above(one.node)}
    mute = [node for node in mute if response_id(node) not in told_twice and node not in above_asked]
    found = _joined(found, kinds, contents, owner)
    for node in trace.nodes:
        if node in owner:
            owner[node].nodes.append(node)
    for one in found:
        one.nodes.sort(key=lambda node: (node.span.started, node.span.span_id))
    told = [*owner, *mute, *judging]
    known = {*told, *(above for node in told for above in _above(node))}
    spare = [node for node in trace.nodes if node not in known and response_id(node) not in told_twice]
    return Read(trace, kinds, contents, found, owner, mute, judging, spare)


def response_id(node: Node) -> str:
    """The id that the provider gave to an answer, by either convention."""
    held = node.span.attributes
    if found := next((said for name in RESPONSE_IDS if (said := text(held.get(name)))), ""):
        return found
    if held.get("output.mime_type") == "application/json" and isinstance(
        body := parse_json_value(held.get("output.value")), dict
    ):
        return text(body.get("id"))
    return ""


def _above(node: Node) -> Iterator[Node]:
    while node.parent is not None:
        node = node.parent
        yield node


class _Below:
    """What lies below each span: its first call that has a question, whether a call, and a turn with its own text.

    `first_calls`: whether a call with a question lies below that is an interaction in homes of version 1. A span that
    version 1 did not know leaves it to that, so that nothing is there twice.
    """

    def __init__(self, trace: Trace, kinds: Mapping[Node, Kind], contents: Mapping[Node, Content]) -> None:
        self.asking: dict[Node, Node] = {}
        self.calls: set[Node] = set()
        self.first_calls: set[Node] = set()
        self.told: set[Node] = set()
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


def _prompt(node: Node, kind: Kind, contents: Mapping[Node, Content], below: _Below) -> TracedText | None:
    """The question of a span, if it may be an interaction; that of its first call where a turn has no own text."""
    own = contents[node].prompt
    if node in below.first_calls and not is_first_frame(node):
        return None
    if kind == "chain":  # of glue around something else, only what has a model below, or all else
        return own if node.parent is None or node in below.calls else None
    if own is None and kind == "turn" and node not in below.told and node in below.asking:
        return contents[below.asking[node]].prompt
    return own


def _is_asked_anew(node: Node, above: Asked, kinds: Mapping[Node, Kind], contents: Mapping[Node, Content]) -> bool:
    """Whether a call below a call asks something else than that one."""
    if kinds[node] != "call" or kinds[above.node] != "call":
        return False
    said = contents[node].prompt
    return said is not None and said.text != above.prompt.text


def _joined(
    found: list[Asked], kinds: Mapping[Node, Kind], contents: Mapping[Node, Content], owner: dict[Node, Asked]
) -> list[Asked]:
    """Calls of the same turn as one: those that go on, those after an error, and those with the same answer's id."""
    first: dict[str, Asked] = {}
    by_answer: dict[str, Asked] = {}
    last: dict[Asked, Node] = {}
    into: dict[Asked, Asked] = {}
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


def _start(node: Node) -> tuple[int, str]:
    return node.span.started, node.span.span_id
