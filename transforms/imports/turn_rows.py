"""Turns of a coding agent as rows: interactions, and what can be said of how each turn ended.

What is known later of a turn makes later versions of its rows, and changes no earlier version. So the beginning of a
session and then all of it give the same versions as all of it at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from slowwave.transforms.core.blank import says_nothing
from slowwave.transforms.imports.adapter import Context, LeftOut, Made, Row, Turn, is_stated
from slowwave.transforms.imports.inferred.inferred_outcomes import inferred_outcomes
from slowwave.transforms.imports.record_values import moment_of

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

    def abandoned_rows(self, at: str, context: Context) -> Iterator[Row]:
        """As they are once the person has gone back to before the turn, at a time."""
        yield _row(self.turn, self.interaction | {"recorded_at": at, _BRANCH: _ABANDONED})
        turn = replace(self.turn, fields=self.turn.fields | {_BRANCH: _ABANDONED})
        yield from _changes(turn, self.outcomes, _outcomes(turn, context), at)

    def interrupted_rows(self, at: str, context: Context) -> Iterator[Row]:
        """As they are once it is known that the person interrupted the turn, at a time."""
        turn = replace(self.turn, end="interrupted")
        yield _row(turn, self.interaction | {"recorded_at": at, "ended": "interrupted"})
        for key, fields in _outcomes(turn, context).items():
            if key not in self.outcomes:
                yield _row(turn, fields | {"recorded_at": at})

    def restored_rows(self, at: str) -> Iterator[Row]:
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


# People go back by a few turns: so many are held, that a session of any length takes little memory.
_MOST_FINISHED = 300


@dataclass
class _FinishedTurn:
    """A turn that is over, the one before it on its branch, and the records that lead back to it."""

    before: int | None
    records: list[str] = field(default_factory=list)
    rows: TurnRows | None = None


class TurnLog:
    """A session: `begin` turns with the record that asks and the one it hangs on, `note` the records that follow.

    Ids of records are '' where they have none.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._held: dict[int, _FinishedTurn] = {}
        self._turn_of: dict[str, int] = {}
        self._last: int | None = None
        self._count = 0
        self._told: dict[str, Fields] = {}
        self.turn: Turn | None = None

    def begin(self, turn: Turn, record: str, parent: str | None, *, goes_to_start: bool = False) -> Iterator[Made]:
        """A turn begins, so the one before it is over; those after `parent` are taken back.

        Where the record of `parent` is not known, the turn follows the last one, or with `goes_to_start` none.
        """
        yield from self.end(turn)
        before = self._turn_of.get(parent, self._last) if parent is not None else self._last
        if goes_to_start:
            before = None
        if before != self._last:
            yield from self._move_to_turn(before, turn.created_at)
        self._count += 1
        self._held[self._count] = _FinishedTurn(before)
        self._last = self._count
        self.turn = turn
        self._turn_of.pop(record, None)  # it may have been taken for a record of the turn before
        self._place(record, self._last)
        self._forget()

    def note(self, record: str, parent: str | None) -> None:
        """A record leads back to the turn of the one it hangs on, else to the turn that is going on."""
        place = self._turn_of.get(parent, self._last) if parent is not None else self._last
        if record and place is not None:
            self._place(record, place)

    def _place(self, record: str, turn: int) -> None:
        if record and record not in self._turn_of:
            self._turn_of[record] = turn
            self._held[turn].records.append(record)

    def goes_on(self) -> None:
        """The turn that seemed to be over goes on: what would have been made of it till now may be taken back."""
        if self.turn is not None and why_no_rows(self.turn, self._context) is None:
            self._told |= rows_when_over(self.turn, self._context).outcomes

    def is_known(self, record: str) -> bool:
        """Whether a record leads back to a turn."""
        return record in self._turn_of

    def is_earlier(self, record: str) -> bool:
        """Whether a record leads back to another turn than the last."""
        return self._turn_of.get(record, self._last) != self._last

    def interrupt_turn(self, record: str, at: str) -> Iterator[Made]:
        """The person interrupted the turn that a record leads back to, which others have followed, at a time."""
        held = self._held.get(self._turn_of.get(record, 0))
        if held is not None and held.rows is not None:
            yield from held.rows.interrupted_rows(at, self._context)

    def close(self) -> Iterator[Made]:
        """The turn that is going on is over, and the person said nothing since."""
        if self.turn is not None and self.turn.end == "open":
            self.turn.end = "ended"
        yield from self.end()

    def end(self, following: Turn | None = None) -> Iterator[Made]:
        """The turn that is going on is over, with the next one if there is any; gives its rows."""
        turn, self.turn = self.turn, None
        told, self._told = self._told, {}
        if turn is None or self._last is None:
            return
        if following is not None:
            turn.next_prompt, turn.next_at = following.prompt, following.created_at
            turn.end = "ended" if turn.end == "open" else turn.end
        why = why_no_rows(turn, self._context)
        if why is not None:
            yield why
            return
        rows = self._held[self._last].rows = rows_when_over(turn, self._context, told)
        yield from rows.rows()
        yield from rows_when_followed(turn, rows, self._context)

    def _move_to_turn(self, to: int | None, at: str) -> Iterator[Made]:
        """The person went to the end of another turn: what was on the branch left and is not on this one is over."""
        left, on = self._branch(self._last), self._branch(to)
        for number in sorted(left - on):
            if (rows := self._held[number].rows) is not None:
                yield from rows.abandoned_rows(at, self._context)
        for number in sorted(on - left):
            if (rows := self._held[number].rows) is not None:
                yield from rows.restored_rows(at)

    def _branch(self, last: int | None) -> set[int]:
        numbers: set[int] = set()
        while last is not None and last in self._held:
            numbers.add(last)
            last = self._held[last].before
        return numbers

    def _forget(self) -> None:
        for number in [number for number in self._held if number <= self._count - _MOST_FINISHED]:
            records = self._held.pop(number).records
            for record in records:
                if self._turn_of.get(record) == number:
                    del self._turn_of[record]
