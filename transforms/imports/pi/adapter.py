"""The adapter of sessions of pi and of OpenClaw."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from slowwave.transforms.core.blank import says_nothing
from slowwave.transforms.imports.adapter import Context, LeftOut, Located, Made, Record, Refused, Turn, check_names
from slowwave.transforms.imports.forks import Outline, SeenTurn
from slowwave.transforms.imports.pi.calls import OpenCall, begun_call, ended_call, offered
from slowwave.transforms.imports.pi.texts import answered, asked, blocks, is_answer, is_own_prompt, stated, text_of
from slowwave.transforms.imports.record_values import moment_of
from slowwave.transforms.imports.turn_rows import TURN_OPTIONS, TurnLog

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

    def detected(self, first: Sequence[Record]) -> str | None:
        """As in Adapter."""
        head = first[0] if first else {}
        if head.get("type") != "session" or not stated(head, "id") or not head.keys() & {"version", "cwd"}:
            return None
        version = head.get("version", 1)
        return f"pi or OpenClaw (format {version})" if version in _VERSIONS else None

    def made(self, records: Iterable[Located], context: Context) -> Iterator[Made]:
        """As in Adapter. Raises OptionsError for options that it does not have."""
        check_names(context.options, TURN_OPTIONS)
        session = _Session(context)
        for located in records:
            yield from session.take(located.number, located.record)
        yield from session.end()

    def outline(self, read: Callable[[Callable[[bytes], bool]], Iterable[Located]]) -> Outline:
        """As in Forking: a copy of an entry keeps its id and its time."""
        outline, header = Outline(""), _Header()
        for located in read(may_begin_turn):
            record = located.record
            message = record.get("message")
            if record.get("type") == "session":
                header = _Header.of(record)
                outline.session = outline.session or header.session
            elif isinstance(message, dict) and message.get("role") == "user":
                at = stated(record, "timestamp")
                token = f"{stated(record, 'id') or text_of(message)[:200]}@{at}"
                outline.turns[token] = SeenTurn(header.interaction_id(record), at)
        return outline


def may_begin_turn(line: bytes) -> bool:
    """Whether a line is worth reading for the outline."""
    return b'"user"' in line or b'"session"' in line


@dataclass(frozen=True)
class _Header:
    """The session that entries are of; `parent`: the one it was forked from, of which it holds a copy up to `at`."""

    session: str = ""
    at: str = ""
    directory: str = ""
    version: int = 1
    parent: str = ""

    @classmethod
    def of(cls, record: Record) -> _Header:
        found = _SESSION_FILE.search(stated(record, "parentSession") or stated(record, "branchedFrom"))
        version = record.get("version")
        return cls(
            stated(record, "id"),
            stated(record, "timestamp"),
            stated(record, "cwd"),
            version if isinstance(version, int) else 1,
            found[1] if found else "",
        )

    def session_of(self, entry: Record) -> str:
        """The session that an entry was written in first."""
        at, begun = moment_of(stated(entry, "timestamp")), moment_of(self.at)
        is_copy = self.parent and at is not None and begun is not None and at < begun
        return self.parent if is_copy else self.session

    def interaction_id(self, entry: Record) -> str:
        """The interaction that a prompt begins; version 1 has no ids of entries, but times."""
        return f"{NAME}:{self.session_of(entry)}:{stated(entry, 'id') or stated(entry, 'timestamp')}"


@dataclass
class _Going:
    """What is gathered of the turn that is going on."""

    texts: list[str] = field(default_factory=list)
    calls: dict[str, OpenCall] = field(default_factory=dict)
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


class _Session:
    """The entries of one file in their order."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._header = _Header()
        self._log = TurnLog(context)
        self._going = _Going()

    def take(self, number: int, entry: Record) -> Iterator[Made]:
        """One entry."""
        kind, message = stated(entry, "type"), entry.get("message")
        if kind == "session":
            self._header = _Header.of(entry)
        elif kind != "message" or not isinstance(message, dict):
            yield LeftOut(f"an entry of the client's own ({kind[:40] or 'no type'})")
        else:
            yield from self._message(number, entry, message)
        self._log.note(stated(entry, "id"), stated(entry, "parentId") or None)

    def end(self) -> Iterator[Made]:
        """The file is over."""
        self._complete()
        yield from self._log.end()

    def _message(self, number: int, entry: Record, message: Record) -> Iterator[Made]:
        role = stated(message, "role")
        if role == "user":
            yield from self._user(number, entry, message)
        elif role == "assistant" and not is_answer(message):
            yield LeftOut("a message that the client wrote in the model's place", example=text_of(message)[:200])
        elif role == "assistant":
            yield from self._assistant(entry, message)
        elif role == "toolResult":
            self._result(entry, message)
        elif role == "bashExecution":
            yield LeftOut("a command of the person's own shell", example=stated(message, "command")[:200])
        else:
            yield LeftOut(f"a message of the client's own ({role[:40] or 'no role'})")

    def _user(self, number: int, entry: Record, message: Record) -> Iterator[Made]:
        prompt = asked(text_of(message))
        if is_own_prompt(prompt):
            yield LeftOut("a prompt that the client wrote", example=prompt[:200])
            yield from self._close()
            return
        at = stated(entry, "timestamp")
        if moment_of(at) is None or not self._header.session:
            what = "a time" if self._header.session else "the header of its session"
            yield Refused(number, f"a prompt of pi's without {what}", repr(dict(entry))[:_RAW])
            yield from self._close()
            return
        turn, going = self._log.turn, self._going
        if turn is not None and turn.prompt == prompt and going.answers == going.errors > 0:
            return  # asked again because the API failed: one interaction
        begun = self._turn(entry, prompt)
        self._complete()
        has_parent = "parentId" in entry
        yield from self._log.begin(
            begun,
            stated(entry, "id"),
            stated(entry, "parentId") or None,
            goes_to_start=has_parent and entry["parentId"] is None,
        )
        first = stated(entry, "id") or at
        self._going = _Going(first_entry=first, last_entry=first)

    def _close(self) -> Iterator[Made]:
        """The turn that is going on is over: what follows is no answer to it."""
        self._complete()
        yield from self._log.close()
        self._going = _Going()

    def _turn(self, entry: Record, prompt: str) -> Turn:
        header, at = self._header, stated(entry, "timestamp")
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
        turn, going = self._log.turn, self._going
        if turn is None:
            yield LeftOut("an answer without its prompt", example=text_of(message)[:200])
            return
        self._goes_on()
        self._last(entry)
        reason = stated(message, "stopReason")
        going.answers += 1
        going.models = [*dict.fromkeys([*going.models, stated(message, "model")])]
        self._spend(message)
        if reason == "error":
            going.errors += 1
            going.error = stated(message, "errorMessage")
            turn.end = "api_error"
            return
        for block in blocks(message):
            text = answered(stated(block, "text")) if block.get("type") == "text" else ""
            if not says_nothing(text):
                going.texts.append(text)
            elif block.get("type") == "toolCall":
                call = begun_call(block, self._header.directory)
                if call is not None:
                    going.calls[call.call.call_id] = call
                    going.pending.add(call.call.call_id)
        turn.end = "interrupted" if reason == "aborted" else "open" if going.pending else "ended"

    def _spend(self, message: Record) -> None:
        usage = message.get("usage")
        if not isinstance(usage, dict):
            return
        counts = (usage.get(name) for name in _TOKENS)
        self._going.tokens += sum(count for count in counts if isinstance(count, int) and count > 0)
        cost = usage.get("cost")
        total = cost.get("total") if isinstance(cost, dict) else None
        if isinstance(total, (int, float)) and not isinstance(total, bool) and total > 0:
            self._going.cost += total

    def _result(self, entry: Record, message: Record) -> None:
        turn, going = self._log.turn, self._going
        call = going.calls.get(stated(message, "toolCallId"))
        if turn is None or call is None:
            return
        self._goes_on()
        ended = ended_call(call.call, message)
        going.calls[ended.call_id] = OpenCall(ended, call.reads)
        going.pending.discard(ended.call_id)
        self._last(entry)
        if call.reads and not ended.is_error:
            going.used.append(call.reads)
        if ended.tool == "memory_search":
            going.offered += offered(message, self._header.directory)

    def _goes_on(self) -> None:
        """An entry changes the turn that is going on: it may have seemed to be over."""
        if self._log.turn is not None and self._log.turn.end != "open":
            self._complete()
            self._log.goes_on()

    def _last(self, entry: Record) -> None:
        turn, at = self._log.turn, stated(entry, "timestamp")
        moment = moment_of(at)
        if turn is None or moment is None:
            return
        ended = moment_of(turn.ended_at)
        if ended is None or moment >= ended:
            turn.ended_at = at
        self._going.last_entry = stated(entry, "id") or at

    def _complete(self) -> None:
        """Give the turn that is going on what was gathered of it."""
        turn, going = self._log.turn, self._going
        if turn is None:
            return
        turn.response = "\n\n".join(going.texts)
        turn.calls = [call.call for call in going.calls.values()]
        turn.record_ids = (going.first_entry, going.last_entry)
        distinct = {one["id"]: one for one in reversed(going.offered)}
        fields = {
            "tokens": going.tokens if going.answers else None,
            "cost": round(going.cost, _COST_DIGITS) or None,
            "memories_used": list(dict.fromkeys(going.used)),
            "memories_offered": list(reversed(distinct.values())),
            "model": going.models[-1] if going.models else "",
            "api_errors": going.errors,
            "api_error": going.error,
            "tool_calls": dict(sorted(Counter(call.tool for call in turn.calls).items())),
        }
        turn.fields |= {name: value for name, value in fields.items() if value not in (None, "", [], {}, 0)}
