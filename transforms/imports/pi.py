"""Sessions of pi, and of OpenClaw, which is built on it: a header, then entries that hang on each other as a tree.

Versions 1 to 3 of the format. Version 1 was seen in a file, 3 in the source of pi and in files that others describe.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from slowwave.transforms.core.blank import says_nothing
from slowwave.transforms.imports.adapter import (
    Call,
    Context,
    LeftOut,
    Located,
    Made,
    Record,
    Refused,
    Turn,
    check_names,
)
from slowwave.transforms.imports.forks import Outline, SeenTurn
from slowwave.transforms.imports.record_values import moment_of, text_in
from slowwave.transforms.imports.turn_rows import TURN_OPTIONS, TurnLog

# ------------------------------------------------------------------------------------------
# What entries of a session say: prompts without what OpenClaw puts around them, answers without its directions.

_METADATA = r"[A-Z][\w ]{0,60} \(untrusted[^)\n]{0,40}\):\s*```json\s.*?```\s*"
_STAMP = r"\[[^\]\n]{0,150}\d{4}-\d\d-\d\d \d\d:\d\d[^\]\n]{0,20}\]\s*"
_BEFORE = re.compile(rf"\s*(?:{_METADATA})*(?:{_STAMP})?", re.DOTALL)
_DIRECTION = re.compile(r"\[\[\s*reply_to(?:_current|:[^\]\n]*)\s*\]\]\s*")
# Prompts that OpenClaw writes itself, by what they begin with.
_OWN_PROMPTS = (
    "A new session was started via /new or /reset",
    "Read HEARTBEAT.md if it exists",
    "Pre-compaction memory flush",
    "System: [",
)
# Messages that OpenClaw writes in the model's place.
_NO_MODELS = frozenset({"delivery-mirror", "gateway-injected"})


def blocks(message: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The blocks of a message; one that is a text is one block."""
    content = message.get("content")
    if isinstance(content, str):
        yield {"type": "text", "text": content}
    elif isinstance(content, list):
        yield from (block for block in content if isinstance(block, dict))


def text_of(message: Mapping[str, Any]) -> str:
    """The texts of a message."""
    texts = (text_in(block, "text") for block in blocks(message) if block.get("type") == "text")
    return "\n\n".join(text for text in texts if text)


def prompt_without_sender(text: str) -> str:
    """A prompt without who sent it and when."""
    found = _BEFORE.match(text)
    return text[found.end() :].strip() if found else text.strip()


def is_own_prompt(text: str) -> bool:
    """Whether the client asked, and nobody else."""
    return text.startswith(_OWN_PROMPTS)


def without_directions(text: str) -> str:
    """An answer without directions to the client."""
    return _DIRECTION.sub("", text).strip("\n")


def is_answer(message: Mapping[str, Any]) -> bool:
    """Whether a message of the assistant's is the model's."""
    return text_in(message, "model") not in _NO_MODELS


# ------------------------------------------------------------------------------------------
# Tool calls of a session, how they ended, and which memories they searched and read.

_SHELLS = frozenset({"bash", "exec"})
_READERS = frozenset({"memory_get", "read"})
_MEMORY_FILE = re.compile(r"(?:^|[/\\])(?:MEMORY\.md|memory[/\\].+\.md)$", re.IGNORECASE)
_EXIT_CODE = re.compile(r"[Ee]xit(?:ed with)? code:? (\d{1,3})\b")
_ABORTED = ("Operation aborted", "Command aborted")
_MOST_OUTPUT = 250_000


class PiCall(NamedTuple):
    """A call as it was made, with the file of memories that it reads, and from which line on."""

    call: Call
    reads: str = ""


def start_call(block: Mapping[str, Any], directory: str) -> PiCall | None:
    """The call that a block of an answer makes; `directory`: where the session works."""
    call_id, tool, given = text_in(block, "id"), text_in(block, "name"), block.get("arguments")
    if not call_id or not tool:
        return None
    given = given if isinstance(given, dict) else {}
    path = text_in(given, "path") or text_in(given, "file_path")
    is_memory = tool in _READERS and _MEMORY_FILE.search(path) is not None
    line = given.get("from", given.get("offset"))
    command = text_in(given, "command") if tool in _SHELLS else ""
    return PiCall(Call(call_id, tool, command), memory_id(path, line, directory) if is_memory else "")


def end_call(call: Call, message: Mapping[str, Any]) -> Call:
    """The call with its result. That a file could not be read is said in details, not as an error."""
    found = message.get("details")
    details = found if isinstance(found, dict) else {}
    text = text_of(message)
    is_error = message.get("isError") is True or details.get("status") == "error"
    if text.endswith(_ABORTED):
        return call._replace(is_error=is_error, end="interrupted")
    if not call.command:
        return call._replace(is_error=is_error)
    exit_code = _exit_code(call, text, is_error, details)
    return call._replace(output=text[-_MOST_OUTPUT:], is_error=is_error, exit_code=exit_code)


def _exit_code(call: Call, text: str, is_error: bool, details: Mapping[str, Any]) -> int | None:
    stated_code = details.get("exitCode")
    if isinstance(stated_code, int) and not isinstance(stated_code, bool):
        return stated_code
    if is_error:
        said = _EXIT_CODE.search(text[-500:])
        return int(said[1]) if said else None
    return 0 if call.tool == "bash" else None  # which ends with an error where the shell does; others may run on


def memories_found(message: Mapping[str, Any], directory: str) -> list[dict[str, Any]]:
    """The memories that a search gave, in its order."""
    details = message.get("details")
    results = details.get("results") if isinstance(details, dict) else None
    found = []
    for rank, result in enumerate(results if isinstance(results, list) else [], start=1):
        if isinstance(result, dict) and text_in(result, "path"):
            score = result.get("score")
            is_score = isinstance(score, (int, float)) and not isinstance(score, bool)
            memory = memory_id(text_in(result, "path"), result.get("startLine"), directory)
            found.append({"id": memory, "rank": rank, "score": score if is_score else None})
    return found


def memory_id(path: str, line: object, directory: str) -> str:
    """What a place in a file of memories is called: by the path from where the session works, and its first line."""
    path = path.replace("\\", "/").removeprefix(f"{directory.rstrip('/')}/").removeprefix("./")
    return f"pi:{path}#L{line}" if isinstance(line, int) and not isinstance(line, bool) else f"pi:{path}"


# ------------------------------------------------------------------------------------------
# The adapter of sessions of pi and of OpenClaw.

NAME = "pi"
_VERSIONS = (1, 2, 3)
_TOKENS = ("input", "output", "cacheRead", "cacheWrite")
# How the file of a session is called, which is all that a fork says of the one it comes from.
_SESSION_FILE = re.compile(r"_([0-9a-fA-F-]{8,64})\.jsonl$")
_RAW = 2_000
_COST_DIGITS = 10  # of dollars: a sum of floats has more that mean nothing


class Pi:
    """A header, then entries; a turn is begun by a message of the user."""

    name = NAME
    version = 2

    def detect_producer(self, first: Sequence[Record]) -> str | None:
        """As in Adapter."""
        head = first[0] if first else {}
        if head.get("type") != "session" or not text_in(head, "id") or not head.keys() & {"version", "cwd"}:
            return None
        version = head.get("version", 1)
        return f"pi or OpenClaw (format {version})" if version in _VERSIONS else None

    def make_rows(self, records: Iterable[Located], context: Context) -> Iterator[Made]:
        """As in Adapter. Raises OptionsError for options that it does not have."""
        check_names(context.options, TURN_OPTIONS)
        session = _PiSession(context)
        for located in records:
            yield from session.take(located.number, located.record)
        yield from session.end()

    def outline(self, read: Callable[[Callable[[bytes], bool]], Iterable[Located]]) -> Outline:
        """As in Forking: a copy of an entry keeps its id and its time."""
        outline, header = Outline(""), _SessionHeader()
        for located in read(may_begin_turn):
            record = located.record
            message = record.get("message")
            if record.get("type") == "session":
                header = _SessionHeader.of(record)
                outline.session = outline.session or header.session
            elif isinstance(message, dict) and message.get("role") == "user":
                at = text_in(record, "timestamp")
                token = f"{text_in(record, 'id') or text_of(message)[:200]}@{at}"
                outline.turns[token] = SeenTurn(header.interaction_id(record), at)
        return outline


def may_begin_turn(line: bytes) -> bool:
    """Whether a line is worth reading for the outline."""
    return b'"user"' in line or b'"session"' in line


@dataclass(frozen=True)
class _SessionHeader:
    """The session that entries are of; `parent`: the one it was forked from, of which it holds a copy up to `at`."""

    session: str = ""
    at: str = ""
    directory: str = ""
    version: int = 1
    parent: str = ""

    @classmethod
    def of(cls, record: Record) -> _SessionHeader:
        found = _SESSION_FILE.search(text_in(record, "parentSession") or text_in(record, "branchedFrom"))
        version = record.get("version")
        return cls(
            text_in(record, "id"),
            text_in(record, "timestamp"),
            text_in(record, "cwd"),
            version if isinstance(version, int) else 1,
            found[1] if found else "",
        )

    def session_of(self, entry: Record) -> str:
        """The session that an entry was written in first."""
        at, begun = moment_of(text_in(entry, "timestamp")), moment_of(self.at)
        is_copy = self.parent and at is not None and begun is not None and at < begun
        return self.parent if is_copy else self.session

    def interaction_id(self, entry: Record) -> str:
        """The interaction that a prompt begins; version 1 has no ids of entries, but times."""
        return f"{NAME}:{self.session_of(entry)}:{text_in(entry, 'id') or text_in(entry, 'timestamp')}"


@dataclass
class _PiTurnParts:
    """What is gathered of the open turn so far."""

    texts: list[str] = field(default_factory=list)
    calls: dict[str, PiCall] = field(default_factory=dict)
    pending: set[str] = field(default_factory=set)
    used: list[str] = field(default_factory=list)
    offered: list[dict[str, Any]] = field(default_factory=list)
    tokens: int = 0
    cost: float = 0.0
    answers: int = 0
    models: list[str] = field(default_factory=list)
    errors: int = 0
    error: str = ""
    first_entry: str = ""
    last_entry: str = ""


class _PiSession:
    """The entries of one file in their order."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._header = _SessionHeader()
        self._log = TurnLog(context)
        self._open = _PiTurnParts()

    def take(self, number: int, entry: Record) -> Iterator[Made]:
        """One entry."""
        kind, message = text_in(entry, "type"), entry.get("message")
        if kind == "session":
            self._header = _SessionHeader.of(entry)
        elif kind != "message" or not isinstance(message, dict):
            yield LeftOut(f"an entry of the client's own ({kind[:40] or 'no type'})")
        else:
            yield from self._message(number, entry, message)
        self._log.note(text_in(entry, "id"), text_in(entry, "parentId") or None)

    def end(self) -> Iterator[Made]:
        """The file is over."""
        self._complete()
        yield from self._log.end()

    def _message(self, number: int, entry: Record, message: Record) -> Iterator[Made]:
        role = text_in(message, "role")
        if role == "user":
            yield from self._user(number, entry, message)
        elif role == "assistant" and not is_answer(message):
            yield LeftOut("a message that the client wrote in the model's place", example=text_of(message)[:200])
        elif role == "assistant":
            yield from self._assistant(entry, message)
        elif role == "toolResult":
            self._result(entry, message)
        elif role == "bashExecution":
            yield LeftOut("a command of the person's own shell", example=text_in(message, "command")[:200])
        else:
            yield LeftOut(f"a message of the client's own ({role[:40] or 'no role'})")

    def _user(self, number: int, entry: Record, message: Record) -> Iterator[Made]:
        prompt = prompt_without_sender(text_of(message))
        if is_own_prompt(prompt):
            yield LeftOut("a prompt that the client wrote", example=prompt[:200])
            yield from self._close()
            return
        at = text_in(entry, "timestamp")
        if moment_of(at) is None or not self._header.session:
            what = "a time" if self._header.session else "the header of its session"
            yield Refused(number, f"a prompt of pi's without {what}", repr(dict(entry))[:_RAW])
            yield from self._close()
            return
        turn, open_turn = self._log.turn, self._open
        if turn is not None and turn.prompt == prompt and open_turn.answers == open_turn.errors > 0:
            return  # asked again because the API failed: one interaction
        begun = self._turn(entry, prompt)
        self._complete()
        has_parent = "parentId" in entry
        yield from self._log.begin(
            begun,
            text_in(entry, "id"),
            text_in(entry, "parentId") or None,
            goes_to_start=has_parent and entry["parentId"] is None,
        )
        first = text_in(entry, "id") or at
        self._open = _PiTurnParts(first_entry=first, last_entry=first)

    def _close(self) -> Iterator[Made]:
        """The open turn is over: what follows is no answer to it."""
        self._complete()
        yield from self._log.close()
        self._open = _PiTurnParts()

    def _turn(self, entry: Record, prompt: str) -> Turn:
        header, at = self._header, text_in(entry, "timestamp")
        client = "openclaw" if "openclaw" in header.directory.lower() else NAME
        return Turn(
            interaction_id=header.interaction_id(entry),
            created_at=at,
            ended_at=at,
            prompt=prompt,
            project=self._context.project_of(header.directory) if header.directory else "",
            agent=client,
            client=client,
            session_id=header.session_of(entry),
            end="open",
            client_version=f"format {header.version}",
        )

    def _assistant(self, entry: Record, message: Record) -> Iterator[Made]:
        turn, open_turn = self._log.turn, self._open
        if turn is None:
            yield LeftOut("an answer without its prompt", example=text_of(message)[:200])
            return
        self._goes_on()
        self._last(entry)
        reason = text_in(message, "stopReason")
        open_turn.answers += 1
        open_turn.models = [*dict.fromkeys([*open_turn.models, text_in(message, "model")])]
        self._spend(message)
        if reason == "error":
            open_turn.errors += 1
            open_turn.error = text_in(message, "errorMessage")
            turn.end = "api_error"
            return
        for block in blocks(message):
            text = without_directions(text_in(block, "text")) if block.get("type") == "text" else ""
            if not says_nothing(text):
                open_turn.texts.append(text)
            elif block.get("type") == "toolCall":
                call = start_call(block, self._header.directory)
                if call is not None:
                    open_turn.calls[call.call.call_id] = call
                    open_turn.pending.add(call.call.call_id)
        turn.end = "interrupted" if reason == "aborted" else "open" if open_turn.pending else "ended"

    def _spend(self, message: Record) -> None:
        usage = message.get("usage")
        if not isinstance(usage, dict):
            return
        counts = (usage.get(name) for name in _TOKENS)
        self._open.tokens += sum(count for count in counts if isinstance(count, int) and count > 0)
        cost = usage.get("cost")
        total = cost.get("total") if isinstance(cost, dict) else None
        if isinstance(total, (int, float)) and not isinstance(total, bool) and total > 0:
            self._open.cost += total

    def _result(self, entry: Record, message: Record) -> None:
        turn, open_turn = self._log.turn, self._open
        call = open_turn.calls.get(text_in(message, "toolCallId"))
        if turn is None or call is None:
            return
        self._goes_on()
        ended = end_call(call.call, message)
        open_turn.calls[ended.call_id] = PiCall(ended, call.reads)
        open_turn.pending.discard(ended.call_id)
        self._last(entry)
        if call.reads and not ended.is_error:
            open_turn.used.append(call.reads)
        if ended.tool == "memory_search":
            open_turn.offered += memories_found(message, self._header.directory)

    def _goes_on(self) -> None:
        """An entry changes the last turn: it may have seemed to be over."""
        if self._log.turn is not None and self._log.turn.end != "open":
            self._complete()
            self._log.goes_on()

    def _last(self, entry: Record) -> None:
        turn, at = self._log.turn, text_in(entry, "timestamp")
        moment = moment_of(at)
        if turn is None or moment is None:
            return
        ended = moment_of(turn.ended_at)
        if ended is None or moment >= ended:
            turn.ended_at = at
        self._open.last_entry = text_in(entry, "id") or at

    def _complete(self) -> None:
        """Give the open turn what was gathered of it."""
        turn, open_turn = self._log.turn, self._open
        if turn is None:
            return
        turn.response = "\n\n".join(open_turn.texts)
        turn.calls = [call.call for call in open_turn.calls.values()]
        turn.record_ids = (open_turn.first_entry, open_turn.last_entry)
        distinct = {one["id"]: one for one in reversed(open_turn.offered)}
        fields = {
            "tokens": open_turn.tokens if open_turn.answers else None,
            "cost": round(open_turn.cost, _COST_DIGITS) or None,
            "memories_used": list(dict.fromkeys(open_turn.used)),
            "memories_offered": list(reversed(distinct.values())),
            "model": open_turn.models[-1] if open_turn.models else "",
            "api_errors": open_turn.errors,
            "api_error": open_turn.error,
            "tool_calls": dict(sorted(Counter(call.tool for call in turn.calls).items())),
        }
        turn.fields |= {name: value for name, value in fields.items() if value not in (None, "", [], {}, 0)}
