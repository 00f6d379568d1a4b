"""Sessions that were forked hold turns of the session they come from: whose each turn is, whatever is read first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from slowwave.transforms.core.hashing import digest
from slowwave.transforms.imports.record_values import moment_of

# Of more copies than that of one turn nobody can say which was first: comparing all would take for ever.
_MOST_COMPARED = 40


@dataclass(frozen=True)
class SeenTurn:
    """A turn as a unit has it: the interaction it makes there, and when it began."""

    interaction_id: str
    at: str


@dataclass
class Outline:
    """The turns of a session by what a copy of them keeps, such as the producer's id of the prompt.

    `copied_from`: what a turn is called here and what it was called where it was copied from. `modified_at`: seconds
    since 1970 at which the unit was last written to.
    """

    session: str
    turns: dict[str, SeenTurn] = field(default_factory=dict)
    copied_from: dict[str, str] = field(default_factory=dict)
    modified_at: float = 0.0


def hash_outline(outline: Outline) -> Outline:
    """The same without anything that the producer wrote: what is kept of it tells no more than that two are the same.

    Times become those of one zone and one form; a turn without one makes no row, and is dropped.
    """

    def name(stated: str) -> str:
        return digest([stated])

    return Outline(
        name(outline.session),
        {
            name(turn): SeenTurn(seen.interaction_id, at)
            for turn, seen in outline.turns.items()
            if (at := _time(seen.at))
        },
        {name(turn): name(before) for turn, before in outline.copied_from.items()},
        outline.modified_at,
    )


@dataclass(frozen=True)
class Owners:
    """Which session each turn is of, among those that have it."""

    of_turn: Mapping[str, str]
    copied_from: Mapping[str, str]

    def of(self, turn: str) -> str | None:
        """The session that a turn is of; None where no session is known to have it."""
        return self.of_turn.get(_first(turn, self.copied_from))

    def names(self, turn: str) -> tuple[str, ...]:
        """What a turn is called in the sessions it was copied through, in the first of them last."""
        return tuple(_names(turn, self.copied_from))

    def copies(self, outline: Outline) -> frozenset[str]:
        """The turns of a unit that are another session's."""
        return frozenset(turn for turn in outline.turns if self.of(turn) not in (None, outline.session))


def owners(outlines: Iterable[Outline]) -> Owners:
    """Whose each turn is: of sessions that share turns, of the one that the others were forked from.

    That is one which has nothing but what another one has too, else the one whose own turns begin earlier: a fork
    goes on from what it copied. Where neither tells, the unit that was written to first.
    """
    held = [*outlines]
    copied_from = {new: old for outline in held for new, old in outline.copied_from.items()}
    turns: defaultdict[str, dict[str, str]] = defaultdict(dict)
    modified: dict[str, float] = {}
    sessions: defaultdict[str, set[str]] = defaultdict(set)
    for outline in held:
        modified[outline.session] = min(outline.modified_at, modified.get(outline.session, outline.modified_at))
        for turn, seen in outline.turns.items():
            original = _first(turn, copied_from)
            turns[outline.session][original] = seen.at
            sessions[original].add(outline.session)
    compared: dict[tuple[str, str], bool] = {}

    def is_before(one: str, other: str) -> bool:
        if (one, other) not in compared:
            compared[one, other] = _order(turns[one], turns[other], modified[one], one) < _order(
                turns[other], turns[one], modified[other], other
            )
        return compared[one, other]

    def first(having: set[str]) -> str:
        if len(having) > _MOST_COMPARED:
            return min(having, key=lambda one: (modified[one], one))
        return max(sorted(having), key=lambda one: sum(is_before(one, other) for other in having if other != one))

    return Owners({turn: first(having) for turn, having in sessions.items()}, copied_from)


def _order(own: Mapping[str, str], others: Mapping[str, str], modified_at: float, session: str) -> tuple[object, ...]:
    alone = [at for turn, at in own.items() if turn not in others]
    return min(alone, default=""), modified_at, session


def _time(stated: str) -> str:
    moment = moment_of(stated)
    return moment.isoformat(timespec="microseconds") if moment is not None else ""


def _first(turn: str, copied_from: Mapping[str, str]) -> str:
    return _names(turn, copied_from)[-1]


def _names(turn: str, copied_from: Mapping[str, str]) -> list[str]:
    names = [turn]
    while (before := copied_from.get(names[-1])) is not None and before not in names:
        names.append(before)
    return names
