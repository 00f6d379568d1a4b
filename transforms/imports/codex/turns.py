"""A turn of a thread while it is read, and as the turn that it was."""

from __future__ import annotations

from dataclasses import dataclass, field

from slowwave.transforms.imports.codex.calls import Calls
from slowwave.transforms.imports.codex.citations import cut, memories_opened, stated
from slowwave.transforms.imports.codex.messages import Answer, Answers, Said, phase_of, request
from slowwave.transforms.imports.codex.threads import Thread
from slowwave.transforms.imports.codex.tokens import Usage
from slowwave.transforms.imports.codex.values import time_text
from slowwave.transforms.imports.inferred.outcomes import with_needed_outputs
from slowwave.transforms.imports.made import Context, Record
from slowwave.transforms.imports.record_values import text_in, whole_number
from slowwave.transforms.imports.turns import Turn, TurnEnd

# Shorter ones are numbers that begin anew with each start of Codex.
_SHORTEST_ID = 16


@dataclass
class ReadTurn:
    """What is known of a turn so far. Times are texts; `began` and `ended` are '' where only lines have a time.

    `is_marked`: a record says where it begins. `is_copied`: it is another thread's, whose fork this one is.
    """

    turn_id: str
    began: str
    written_at: str
    usage: Usage
    is_marked: bool = False
    is_copied: bool = False
    ended: str = ""
    end: TurnEnd | None = None
    duration_ms: float | None = None
    directory: str = ""
    model: str = ""
    prompts: Said = field(default_factory=Said)
    answers: Answers = field(default_factory=Answers)
    calls: Calls = field(default_factory=Calls)
    cited: list[str] = field(default_factory=list)
    rollouts: list[str] = field(default_factory=list)
    last_at: str = ""
    has_failed: bool = False

    def __post_init__(self) -> None:
        self.last_at = self.last_at or self.written_at

    @property
    def prompt(self) -> str:
        """What was asked, and what the person added while the agent worked."""
        return "\n\n".join(filter(str.strip, self.prompts.texts))

    @property
    def is_answered(self) -> bool:
        """Whether the agent said or did anything."""
        return bool(self.answers.told or self.answers.given or [*self.calls])

    def heard(self, at: str) -> None:
        """A record of it was written then."""
        self.last_at = at or self.last_at

    def is_once_more(self, *, is_given: bool) -> bool:
        """Whether a message of the user that comes now is one that came already, as the other kind of record."""
        told, given = len(self.prompts.told), len(self.prompts.given)
        return not self.is_answered and (given < told if is_given else told < given)

    def asked(self, prompt: str, *, is_given: bool = False) -> None:
        """A message of the user, from an event, or as the model was given it."""
        (self.prompts.given if is_given else self.prompts.told).append(request(prompt))

    def answered(self, answer: str, message: Record, *, is_given: bool = False) -> None:
        """A message of the agent, likewise."""
        plain, cited, rollouts = cut(answer)
        more, more_rollouts = stated(message.get("memory_citation"))
        self.cited += [*cited, *more]
        self.rollouts += [*rollouts, *more_rollouts]
        self.answers.add(Answer(plain, phase_of(message), text_in(message, "id")), is_given=is_given)
        self.has_failed = False

    def is_over(self, end: TurnEnd, event: Record) -> None:
        """The record that ends it."""
        self.end = end
        self.ended = time_text(event.get("completed_at"))
        duration = whole_number(event.get("duration_ms"))
        self.duration_ms = None if duration is None or duration < 0 else float(duration)
        self.answers.last = cut(text_in(event, "last_agent_message"))[0]

    @property
    def has_own_times(self) -> bool:
        """Whether its times follow from what is in its records, so that they are the same in every copy."""
        return bool(self.began and self.ended)


def interaction_id(turn: ReadTurn, thread: Thread, number: int) -> str:
    """The id of a turn: its own, or else that of its thread with the number of its prompt there."""
    if len(turn.turn_id) >= _SHORTEST_ID:
        return f"codex:{turn.turn_id}"
    return f"codex:{thread.thread_id}:{number}"


def turn_of(turn: ReadTurn, thread: Thread, number: int, context: Context) -> Turn:
    """A turn that was read to its end, or as far as there is. `number`: of its prompt in the thread, from 1."""
    calls = [*turn.calls]
    cited = [*dict.fromkeys(turn.cited)]
    used = [*dict.fromkeys([*cited, *(path for call in calls for path in memories_opened(call.command))])]
    fields = {
        "tokens": turn.usage.tokens,
        "memories_used": used or None,
        "memories_cited": cited or None,
        "cited_threads": [*dict.fromkeys(turn.rollouts)] or None,
        "model": turn.model or None,
        "git_branch": thread.branch or None,
        "thread_id": thread.thread_id if thread.thread_id != thread.session_id else None,
        "parent_thread": thread.forked_from or None,
    }
    began = turn.began or turn.written_at
    return Turn(
        interaction_id=interaction_id(turn, thread, number),
        created_at=began,
        ended_at=turn.ended or turn.last_at or began,
        prompt=turn.prompt,
        response=turn.answers.response.strip(),
        project=context.project_of(turn.directory or thread.directory),
        agent=thread.agent,
        client=thread.client,
        session_id=thread.session_id,
        end=turn.end or "open",
        duration_ms=turn.duration_ms,
        calls=with_needed_outputs(calls),
        fields={name: value for name, value in fields.items() if value is not None},
        client_version=thread.version,
    )
