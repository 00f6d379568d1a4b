"""The turns of a session in their order, as its records are read: each gives its rows once it is over."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from slowwave.transforms.imports.made import Context, Made
from slowwave.transforms.imports.turn_rows import Fields, TurnRows, rows_when_followed, rows_when_over, why_no_rows
from slowwave.transforms.imports.turns import Turn

# People go back by a few turns: so many are held, that a session of any length takes little memory.
_MOST_HELD = 300


@dataclass
class _Held:
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
        self._held: dict[int, _Held] = {}
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
            yield from self._moved(before, turn.created_at)
        self._count += 1
        self._held[self._count] = _Held(before)
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

    def interrupted(self, record: str, at: str) -> Iterator[Made]:
        """The person interrupted the turn that a record leads back to, which others have followed, at a time."""
        held = self._held.get(self._turn_of.get(record, 0))
        if held is not None and held.rows is not None:
            yield from held.rows.interrupted(at, self._context)

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

    def _moved(self, to: int | None, at: str) -> Iterator[Made]:
        """The person went to the end of another turn: what was on the branch left and is not on this one is over."""
        left, on = self._branch(self._last), self._branch(to)
        for number in sorted(left - on):
            if (rows := self._held[number].rows) is not None:
                yield from rows.abandoned(at, self._context)
        for number in sorted(on - left):
            if (rows := self._held[number].rows) is not None:
                yield from rows.restored(at)

    def _branch(self, last: int | None) -> set[int]:
        numbers: set[int] = set()
        while last is not None and last in self._held:
            numbers.add(last)
            last = self._held[last].before
        return numbers

    def _forget(self) -> None:
        for number in [number for number in self._held if number <= self._count - _MOST_HELD]:
            records = self._held.pop(number).records
            for record in records:
                if self._turn_of.get(record) == number:
                    del self._turn_of[record]
