"""A turn of a coding agent, whichever program wrote it down: what was asked, what ran, what was answered."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

# cascade: the call never ran, because another one beside it failed
CallEnd = Literal["ended", "refused", "interrupted", "cascade"]
TurnEnd = Literal["ended", "interrupted", "api_error", "open"]


class Call(NamedTuple):
    """A tool call of a turn. `command`: the shell line, '' for other tools. `output`: for rules only, never a row's."""

    call_id: str
    tool: str
    command: str = ""
    output: str = ""
    exit_code: int | None = None
    is_error: bool = False
    end: CallEnd = "ended"


@dataclass
class Turn:
    """One turn. Times are texts as landing reads them; `interaction_id` is whole, with the adapter's name before.

    `fields` are further fields of the interaction, of the contract (`tokens`, `memories_used`) or not (`git_branch`).
    `next_prompt` is what the person said next in the session, and `next_at` when; None where nothing followed.
    """

    interaction_id: str
    created_at: str
    ended_at: str
    prompt: str
    response: str = ""
    project: str = ""
    agent: str = ""
    client: str = ""
    session_id: str = ""
    end: TurnEnd = "ended"
    next_prompt: str | None = None
    next_at: str | None = None
    duration_ms: float | None = None
    calls: list[Call] = field(default_factory=list)
    fields: dict[str, Any] = field(default_factory=dict)
    record_ids: tuple[str, str] | None = None
    client_version: str = ""
