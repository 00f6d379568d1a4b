"""A turn of a coding agent as rows: the interaction, and what can be said of how it ended.

What is known later of a turn makes later versions of its rows; nothing that was made is made otherwise for it. So
the beginning of a session and then all of it give the same versions as all of it at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from slowwave.transforms.core.blank import says_nothing
from slowwave.transforms.imports.inferred.outcomes import inferred_outcomes
from slowwave.transforms.imports.made import Context, LeftOut, Made, Row
from slowwave.transforms.imports.options import is_stated
from slowwave.transforms.imports.record_values import moment_of
from slowwave.transforms.imports.turns import Turn

STILL_OPEN = "a turn that was still going on"
NO_PROMPT = "a turn without a text of the person's"
# Of every adapter whose records are turns.
TURN_OPTIONS = frozenset({"infer_corrections"})
_BRANCH, _ABANDONED = "branch", "abandoned"
_NOTHING_TOLD: Mapping[str, dict[str, Any]] = {}

Fields = dict[str, Any]


@dataclass(frozen=True)
class TurnRows:
    """The rows of a turn that is over, and the turn without what its calls printed."""

    turn: Turn
    interaction: Fields
    outcomes: Mapping[str, Fields]

    def rows(self) -> Iterator[Row]:
        """As they are when the turn is over; what is said next changes outcomes from then on only."""
        yield _row(self.turn, self.interaction)
        for fields in self.outcomes.values():
            yield _row(self.turn, fields)

    def abandoned(self, at: str, context: Context) -> Iterator[Row]:
        """As they are once the person has gone back to before the turn, at a time."""
        yield _row(self.turn, self.interaction | {"recorded_at": at, _BRANCH: _ABANDONED})
        turn = replace(self.turn, fields=self.turn.fields | {_BRANCH: _ABANDONED})
        yield from _changes(turn, self.outcomes, _outcomes(turn, context), at)

    def interrupted(self, at: str, context: Context) -> Iterator[Row]:
        """As they are once it is known that the person interrupted the turn, at a time."""
        turn = replace(self.turn, end="interrupted")
        yield _row(turn, self.interaction | {"recorded_at": at, "ended": "interrupted"})
        for key, fields in _outcomes(turn, context).items():
            if key not in self.outcomes:
                yield _row(turn, fields | {"recorded_at": at})

    def restored(self, at: str) -> Iterator[Row]:
        """As they are once the person has come back to the turn, at a time."""
        for fields in (self.interaction, *self.outcomes.values()):
            yield _row(self.turn, fields | {"recorded_at": at})


def rows_when_over(turn: Turn, context: Context, told: Mapping[str, Fields] = _NOTHING_TOLD) -> TurnRows:
    """The rows of a turn, which is over; of outcomes `told` while it seemed so, those that no longer hold go."""
    silent = replace(turn, calls=[call._replace(output="") if call.output else call for call in turn.calls])
    outcomes = _outcomes(replace(turn, next_prompt=None), context)
    dropped = {key: _taken_back(fields, turn.ended_at) for key, fields in told.items() if key not in outcomes}
    return TurnRows(silent, _interaction(turn), outcomes | dropped)


def rows_when_followed(turn: Turn, rows: TurnRows, context: Context) -> Iterator[Row]:
    """What the next prompt of the person changes of the outcomes of a turn, from when it was said."""
    if turn.next_prompt is not None:
        yield from _changes(turn, rows.outcomes, _outcomes(turn, context), turn.next_at or turn.ended_at)


def turn_rows(turn: Turn, context: Context) -> Iterator[Made]:
    """The rows of one turn; one that is still going on, or in which nobody asked anything, makes none.

    The interaction, and the outcomes that are inferred of it unless the context says otherwise; those of corrections
    only where the option `infer_corrections` is true. Raises OptionsError where it is neither true nor false.
    """
    why = why_no_rows(turn, context)
    if why is not None:
        yield why
        return
    rows = rows_when_over(turn, context)
    yield from rows.rows()
    yield from rows_when_followed(turn, rows, context)


def why_no_rows(turn: Turn, context: Context) -> LeftOut | None:
    """Why a turn makes no rows; None where it does."""
    if says_nothing(turn.prompt):
        return LeftOut(NO_PROMPT)
    if turn.end == "open" and not context.is_idle and not _has_rested(turn, context):
        return LeftOut(STILL_OPEN, example=turn.prompt[:200], is_settled=True)
    return None


def _has_rested(turn: Turn, context: Context) -> bool:
    ended = moment_of(turn.ended_at)
    return ended is not None and context.rested_before is not None and ended < context.rested_before


def _interaction(turn: Turn) -> Fields:
    fields: Fields = {
        "interaction_id": turn.interaction_id,
        "created_at": turn.created_at,
        "recorded_at": turn.ended_at,
        "project": turn.project,
        "agent": turn.agent,
        "client": turn.client or None,
        "session_id": turn.session_id or None,
        "prompt": turn.prompt,
        "response": turn.response or None,
        "duration_ms": turn.duration_ms,
    }
    if turn.end in ("interrupted", "api_error"):
        fields["ended"] = turn.end
    return fields | turn.fields


def _outcomes(turn: Turn, context: Context) -> dict[str, Fields]:
    if not context.infers:
        return {}
    # nobody wrote down that the last turn of an idle unit is over
    ended = replace(turn, end="ended") if turn.end == "open" else turn
    found = inferred_outcomes(ended, corrections=is_stated(context.options, "infer_corrections"))
    return {fields["outcome_id"]: fields for fields in found}


def _changes(turn: Turn, before: Mapping[str, Fields], after: Mapping[str, Fields], at: str) -> Iterator[Row]:
    """What is said now and was not, and what was said and is taken back: it was no attempt after all."""
    for key, fields in after.items():
        if before.get(key) != fields:
            yield _row(turn, fields | {"recorded_at": at})
    for key, fields in before.items():
        if key not in after and fields.get("attempted") is not False:
            yield _row(turn, _taken_back(fields, at))


def _taken_back(outcome: Fields, at: str) -> Fields:
    return outcome | {"recorded_at": at, "success": False, "attempted": False, "evidence": "taken back"}


def _row(turn: Turn, fields: Fields) -> Row:
    return Row(fields, turn.record_ids, turn.client_version)
