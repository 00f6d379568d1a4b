"""Changes of state that only stages of one thing tell, a step of work, or more ways of telling both states at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from slowwave.transforms.observations.states.acts import stated_acts
from slowwave.transforms.observations.states.changes import StateChange, change_between, stated_change
from slowwave.transforms.observations.turns.change_phrases import ToldChange, told_change
from slowwave.transforms.observations.turns.cues import Cue, GoesOn, Statement, StatusChange, by_subject, turns_of
from slowwave.transforms.observations.turns.hopes import came_about, hope_cues, moved_in
from slowwave.transforms.observations.turns.lives import (
    bond_cues,
    came_closer,
    counted_anew,
    counted_on,
    got_one_more,
    owned_cues,
    pastime_cues,
    tally_cues,
    turned_to,
)
from slowwave.transforms.observations.turns.run_series import later_runs
from slowwave.transforms.observations.turns.steps import steps_done
from slowwave.transforms.observations.turns.troubles import has_healed, health_cues
from slowwave.transforms.observations.turns.works import further, work_cues

_GOES_ON: dict[str, GoesOn] = {
    "health": has_healed,
    "trouble": came_about,
    "awaited": came_about,
    "event": came_about,
    "skill": came_about,
    "home": moved_in,
    "work": further,
    "tally": counted_on,
    "pastime": turned_to,
    "bond": came_closer,
    "owned": got_one_more,
    "count": counted_anew,
}
_GOTTEN = re.compile(r"\bgotten\b")
_SOME_TIME = datetime(2000, 1, 1)  # noqa: DTZ001 - only which of two is later counts
_LATER = datetime(2000, 1, 3)  # noqa: DTZ001


class ChangeReaders(NamedTuple):
    """How steps of work, runs and what one statement tells by itself are read."""

    steps: Callable[[Iterable[Statement]], Iterator[StatusChange]]
    runs: Callable[[Iterable[Statement]], Iterator[StatusChange]]
    told: Callable[[str], ToldChange | None]


THIRD = ChangeReaders(steps_done, later_runs, told_change)
"""How `observe/3` reads them."""


def turns(
    told: Iterable[Statement], known: Iterable[StateChange] = (), reading: ChangeReaders = THIRD
) -> list[StateChange]:
    """The changes between statements, in order of their numbers, but for those `known`.

    Of a statement that tells a known change nothing more is told by itself.
    """
    told = list(told)
    pairs = {(one.earlier, one.later) for one in known}
    changed = {later for _, later in pairs}
    found: list[StateChange] = []
    for turn in _turns(told, reading):
        is_known = turn.later in changed if turn.earlier is None else (turn.earlier, turn.later) in pairs
        if not is_known:
            found.append(StateChange(*turn))
            pairs.add((turn.earlier, turn.later))
            changed.add(turn.later)
    return sorted(found, key=lambda one: (one.later, -1 if one.earlier is None else one.earlier, one))


def turn_between(before: str, after: str) -> StateChange | None:
    """What changed from one text to another that was said later; None: nothing that can be told."""
    known = change_between(before, after)
    if known is not None:
        return known
    found = turns((Statement(0, 0, _SOME_TIME, before, is_told=False), Statement(1, 0, _LATER, after)))
    return next((one for one in found if one.later == 1), None)


def told_turn(text: str) -> StateChange | None:
    """What changed, as a text itself tells; None: it does not tell."""
    return stated_change(text) or next(iter(turns((Statement(0, 0, _SOME_TIME, text),))), None)


def _turns(told: list[Statement], reading: ChangeReaders) -> Iterator[StatusChange]:
    for some in by_subject(one for one in told if one.is_staged):
        yield from turns_of(some, _cues, _GOES_ON)
    yield from reading.steps(one for one in told if one.is_step)
    yield from reading.runs(one for one in told if one.is_run)
    for one in told:
        if one.is_told and (change := reading.told(one.text)) is not None:
            yield StatusChange(None, one.statement, change.subject, "", change.before, change.after)


@lru_cache(maxsize=20_000)
def _cues(text: str) -> tuple[Cue, ...]:
    return tuple(_read_cues(text))


def _read_cues(text: str) -> Iterator[Cue]:
    acts = stated_acts(_GOTTEN.sub("got", text))
    yield from health_cues(text)
    yield from work_cues(acts)
    yield from owned_cues(text, acts)
    yield from tally_cues(text)
    yield from pastime_cues(text)
    yield from bond_cues(text)
    yield from hope_cues(text, acts.subject)
