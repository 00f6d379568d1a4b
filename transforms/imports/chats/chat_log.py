"""Conversations as turns: each begins with what a person said, and has the answers up to the next.

A format is a function from one record to its parts: a conversation begins, somebody says something, a call ends. A
record may hold a whole conversation, or one message.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from slowwave.transforms.core.blank import says_nothing
from slowwave.transforms.core.hashing import digest
from slowwave.transforms.imports.adapter import (
    Call,
    Context,
    LeftOut,
    Located,
    Made,
    Record,
    Refused,
    Turn,
    TurnEnd,
    check_names,
)
from slowwave.transforms.imports.record_values import moment_of
from slowwave.transforms.imports.turn_rows import TURN_OPTIONS, turn_rows

_RAW = 2_000
_EXAMPLE = 200
_COST_DIGITS = 10  # of dollars: a sum of floats has more that mean nothing
_MOST_OUTPUT = 250_000
ATTACHMENT = "[attachment]"
NO_PROMPT = "an answer without its prompt"


@dataclass(frozen=True)
class ChatConversation:
    """A conversation begins: the messages after it are its.

    Args:
        conversation_id: the producer's own; '' where it states none, and then nothing of it lands.
        at: a time for messages that state none, such as when it began.
        directory: what a project is told by; '' for none.
        agent: who answers; '' for the program itself.
        version: of the program that wrote it.
        user_id: whose conversation it is; '' where that is not stated.
        is_persons: false where an agent wrote the prompts; then nothing of it lands.
    """

    conversation_id: str
    at: object = None
    directory: str = ""
    agent: str = ""
    version: str = ""
    user_id: str = ""
    is_persons: bool = True


@dataclass(frozen=True)
class ChatMessage:
    """What a person or an agent said.

    Args:
        speaker: user begins a turn, agent goes on with it.
        at: as the producer states it; None where it does not.
        message_id: '' where the producer gives none; a digest of what was said and when stands for it.
        tokens, cost: what the answer took, where it is stated.
        calls: of tools, which `CallResult`s may end.
        end: how the answer ended, where it is stated.
        to: the id of the prompt that an answer is to; '' for the last one.
    """

    speaker: Literal["user", "agent"]
    text: str
    at: object = None
    message_id: str = ""
    model: str = ""
    tokens: int = 0
    cost: float = 0.0
    calls: tuple[Call, ...] = ()
    end: TurnEnd = "ended"
    to: str = ""


@dataclass(frozen=True)
class NotAsked:
    """What the person did not ask begins: the turn before it is over, and what answers it belongs to none."""


@dataclass(frozen=True)
class CallResult:
    """What came of a call of the open turn."""

    call_id: str
    output: str = ""
    is_error: bool = False
    exit_code: int | None = None
    end: Literal["ended", "refused", "interrupted"] = "ended"


ChatPart = ChatConversation | ChatMessage | NotAsked | CallResult | LeftOut | Refused


@dataclass(frozen=True)
class ChatLog:
    """The adapter of one format.

    Args:
        producer: who wrote a record that is one of the format's; None for any other.
        parts: what a record holds, in order.
    """

    name: str
    version: int
    producer: Callable[[Record], str | None]
    parts: Callable[[Record], Iterable[ChatPart]]

    def detect_producer(self, first: Sequence[Record]) -> str | None:
        """As in Adapter."""
        return next((said for record in first if (said := self.producer(record)) is not None), None)

    def make_rows(self, records: Iterable[Located], context: Context) -> Iterator[Made]:
        """Yield the rows of these records. Raises OptionsError where an option is one that turns do not have."""
        check_names(context.options, TURN_OPTIONS)
        session = _ChatSession(self.name, context)
        for located in records:
            for part in self.parts(located.record):
                yield from session.take(located.number, part)
        yield from session.end()


@dataclass
class _ChatTurnParts:
    """The open turn, as its parts come."""

    number: int
    prompt: ChatMessage
    by_id: dict[str, ChatMessage] = field(default_factory=dict)
    calls: dict[str, Call] = field(default_factory=dict)
    times: list[datetime] = field(default_factory=list)

    @property
    def answers(self) -> list[ChatMessage]:
        return [*self.by_id.values()]

    def add(self, answer: ChatMessage) -> None:
        """An answer; of one that was written in several states the last counts."""
        self.by_id[answer.message_id or f" {len(self.by_id)}"] = answer
        self.note(answer)

    def note(self, message: ChatMessage) -> None:
        self.calls |= {call.call_id: call for call in message.calls}
        if (moment := moment_of(message.at)) is not None:
            self.times.append(moment)


class _ChatSession:
    """The parts of one unit in their order."""

    def __init__(self, name: str, context: Context) -> None:
        self._name = name
        self._context = context
        self._conversation = ChatConversation("")
        self._open: _ChatTurnParts | None = None
        self._over: Turn | None = None  # waits for what the person said next
        self._said: dict[str, str] = {}  # ids of the conversation's messages before the open turn

    def take(self, number: int, part: ChatPart) -> Iterator[Made]:
        """One part, of the record with this number."""
        if isinstance(part, (LeftOut, Refused)):
            yield part
        elif isinstance(part, ChatConversation):
            if part.conversation_id != self._conversation.conversation_id:
                yield from self.end()
                self._said = {}
            self._conversation = part
        elif isinstance(part, CallResult):
            self._end_call(part)
        elif isinstance(part, NotAsked):
            yield from self._complete()
        elif not self._conversation.is_persons:
            yield LeftOut("a message in a session that an agent began")
        elif self._is_again(part):
            pass
        elif part.speaker == "user":
            yield from self._complete()
            self._open = _ChatTurnParts(number, part)
            self._open.note(part)
        elif self._open is None or part.to not in ("", self._open.prompt.message_id):
            yield LeftOut(NO_PROMPT, example=part.text[:_EXAMPLE])
        else:
            self._open.add(part)

    def _is_again(self, message: ChatMessage) -> bool:
        """Whether a message was said before: a session that is resumed may begin with all that was said in it."""
        if not message.message_id:
            return False
        prompt = self._open.prompt if self._open is not None else None
        if message.speaker == "user" and prompt is not None and message.message_id == prompt.message_id:
            return message.text == prompt.text
        before = self._said.get(message.message_id)
        return before is not None and (message.speaker == "agent" or before == message.text)

    def _turn_id(self, prompt: ChatMessage, begun: datetime) -> str:
        """The prompt's own id; where it has none, or another text has it, one that what it says and when makes."""
        if prompt.message_id and prompt.message_id not in self._said:
            return prompt.message_id
        own = digest([prompt.text, begun.isoformat()])
        return f"{prompt.message_id}-{own}" if prompt.message_id else own

    def end(self) -> Iterator[Made]:
        """The conversation is over."""
        yield from self._complete()
        yield from self._rows(None)

    def _rows(self, following: Turn | None) -> Iterator[Made]:
        turn, self._over = self._over, following
        if turn is None:
            return
        if following is not None:
            turn.next_prompt, turn.next_at = following.prompt, following.created_at
            turn.end = "ended" if turn.end == "open" else turn.end
        yield from turn_rows(turn, self._context)

    def _end_call(self, result: CallResult) -> None:
        call = self._open.calls.get(result.call_id) if self._open is not None else None
        if self._open is not None and call is not None:
            self._open.calls[result.call_id] = call._replace(
                output=result.output[-_MOST_OUTPUT:] if call.command else "",
                is_error=result.is_error,
                exit_code=result.exit_code,
                end=result.end,
            )

    def _complete(self) -> Iterator[Made]:
        open_turn, self._open = self._open, None
        if open_turn is None:
            return
        conversation, prompt = self._conversation, open_turn.prompt
        begun = moment_of(prompt.at) or min(open_turn.times, default=None) or moment_of(conversation.at)
        if says_nothing(prompt.text):
            yield LeftOut("a prompt without a text")
            if open_turn.answers:
                yield LeftOut(NO_PROMPT, len(open_turn.answers))
        elif begun is None or not conversation.conversation_id:
            lacks = "a time" if begun is None else "the id of its conversation"
            yield Refused(open_turn.number, f"a prompt of {self._name} without {lacks}", prompt.text[:_RAW])
        else:
            yield from self._rows(self._turn(open_turn, begun))
        self._said |= {
            message.message_id: message.text for message in (prompt, *open_turn.answers) if message.message_id
        }

    def _turn(self, open_turn: _ChatTurnParts, begun: datetime) -> Turn:
        conversation, prompt = self._conversation, open_turn.prompt
        of_turn = self._turn_id(prompt, begun)
        last = next((answer.message_id for answer in reversed(open_turn.answers) if answer.message_id), of_turn)
        return Turn(
            interaction_id=f"{self._name}:{conversation.conversation_id}:{of_turn}",
            created_at=f"{begun.isoformat()}Z",
            ended_at=f"{max([begun, *open_turn.times]).isoformat()}Z",
            prompt=prompt.text,
            response="\n\n".join(answer.text for answer in open_turn.answers if not says_nothing(answer.text)),
            project=self._context.project_of(conversation.directory) if conversation.directory else "",
            agent=conversation.agent or self._name,
            client=self._name,
            session_id=conversation.conversation_id,
            end=open_turn.answers[-1].end if open_turn.answers else "open",
            calls=[*open_turn.calls.values()],
            fields=_fields(open_turn) | ({"user_id": conversation.user_id} if conversation.user_id else {}),
            record_ids=(of_turn, last),
            client_version=conversation.version,
        )


def _fields(open_turn: _ChatTurnParts) -> dict[str, Any]:
    models = [answer.model for answer in open_turn.answers if answer.model]
    fields = {
        "tokens": sum(answer.tokens for answer in open_turn.answers),
        "cost": round(sum(answer.cost for answer in open_turn.answers), _COST_DIGITS),
        "model": models[-1] if models else "",
        "tool_calls": dict(sorted(Counter(call.tool for call in open_turn.calls.values()).items())),
    }
    return {name: value for name, value in fields.items() if value}
