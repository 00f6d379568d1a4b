"""Changes of state as `observe/5` finds them: those of `work`, and those that prose tells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import partial

import polars as pl

from slowwave.transforms.observations.prose.candidates import prose_candidates
from slowwave.transforms.observations.prose.done import done_in_prose
from slowwave.transforms.observations.prose.lives import done_in_lives
from slowwave.transforms.observations.prose.spells import gone_through
from slowwave.transforms.observations.prose.told import told_in_prose
from slowwave.transforms.observations.states.changes import StateChange
from slowwave.transforms.observations.turns.changes import Reading, turns
from slowwave.transforms.observations.turns.cues import Statement, Turn
from slowwave.transforms.observations.work.changes import told_work, work_between, work_changes
from slowwave.transforms.observations.work.plain import is_plain, states_something, tells_nothing

_SOME_TIME = datetime(2000, 1, 1)  # noqa: DTZ001 - only which of two is later counts
_LATER = datetime(2000, 1, 3)  # noqa: DTZ001


def prose_changes(statements: pl.DataFrame) -> list[StateChange]:
    """The changes between statements (see `changes_of_state`), and those that one tells."""
    known = work_changes(statements)
    plain = statements.filter(is_plain()).drop("last_at")
    return [*known, *_more([Statement(*row) for row in prose_candidates(plain).iter_rows()], known)]


def _more(told: list[Statement], known: list[StateChange]) -> list[StateChange]:
    settled = frozenset(number for one in known if one.earlier is not None for number in (one.earlier, one.later))
    texts = {one.statement: one.text for one in told}
    reading = Reading(partial(done_in_prose, settled=settled), partial(_of_lives, settled=settled), told_in_prose)
    found = turns(told, known, reading)
    return [one for one in found if not tells_nothing(texts[one.later])]


def _of_lives(told: Iterable[Statement], settled: frozenset[int]) -> Iterator[Turn]:
    """What people did and went through, in statements of which nothing is known."""
    told = list(told)
    for turn in (*done_in_lives(told), *gone_through(told)):
        if turn.later not in settled:
            yield turn


def prose_between(before: str, after: str) -> StateChange | None:
    """What changed from one text to another that was said later; None: nothing that can be told."""
    known = work_between(before, after)
    if known is not None or tells_nothing(after) or not (states_something(before) and states_something(after)):
        return known
    told = [Statement(0, 0, _SOME_TIME, before, is_staged=False), Statement(1, 0, _LATER, after, is_staged=False)]
    return next((one for one in _more(told, []) if one.later == 1), None)


def told_prose(text: str) -> StateChange | None:
    """What changed, as a text itself tells; None: it does not tell."""
    known = told_work(text)
    if known is not None or tells_nothing(text) or not states_something(text):
        return known
    return next(iter(_more([Statement(0, 0, _SOME_TIME, text, is_staged=False)], [])), None)
