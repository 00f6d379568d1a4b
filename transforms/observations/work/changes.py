"""Changes of state as `observe/4` finds them: those of `states` and `turns`, and those that notes of work tell."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import polars as pl

from slowwave.transforms.observations.states.candidates import state_candidates
from slowwave.transforms.observations.states.changes import (
    StateChange,
    Stated,
    change_between,
    state_changes,
    stated_change,
)
from slowwave.transforms.observations.turns.changes import ChangeReaders, turns
from slowwave.transforms.observations.turns.cues import Statement
from slowwave.transforms.observations.turns.steps import names_in_code
from slowwave.transforms.observations.work.candidates import work_candidates
from slowwave.transforms.observations.work.check_series import runs_since
from slowwave.transforms.observations.work.done import work_done
from slowwave.transforms.observations.work.plain import is_plain, states_something, tells_nothing
from slowwave.transforms.observations.work.work_phrases import told_since

_FOURTH = ChangeReaders(work_done, runs_since, told_since)
_SOME_TIME = datetime(2000, 1, 1)  # noqa: DTZ001 - only which of two is later counts
_LATER = datetime(2000, 1, 3)  # noqa: DTZ001


def work_changes(statements: pl.DataFrame) -> list[StateChange]:
    """The changes between statements (see `changes_of_state`), and those that one tells."""
    plain = statements.filter(is_plain())
    texts = dict(plain.select("statement", "content").iter_rows())
    found = state_changes(Stated(*row) for row in state_candidates(plain).iter_rows())
    known = [one for one in found if not (tells_nothing(texts[one.later]) or _is_of_another(one, texts))]
    told = (Statement(*row) for row in work_candidates(plain.drop("last_at")).iter_rows())
    return [*known, *(one for one in turns(told, known, _FOURTH) if not tells_nothing(texts[one.later]))]


def _is_of_another(change: StateChange, texts: dict[int, str]) -> bool:
    """Whether what was meant to be done, and what was done, name other things in code."""
    if change.earlier is None or not tells_nothing(texts[change.earlier]):
        return False
    before, after = names_in_code(change.before), names_in_code(change.after)
    return bool(before and after) and before.isdisjoint(after)


def work_between(before: str, after: str) -> StateChange | None:
    """What changed from one text to another that was said later; None: nothing that can be told."""
    if tells_nothing(after) or not (states_something(before) and states_something(after)):
        return None
    known = change_between(before, after)
    if known is not None:
        return None if _is_of_another(known, {0: before, 1: after}) else known
    return _first((Statement(0, 0, _SOME_TIME, before, is_told=False), Statement(1, 0, _LATER, after)), 1)


def told_work(text: str) -> StateChange | None:
    """What changed, as a text itself tells; None: it does not tell."""
    if tells_nothing(text) or not states_something(text):
        return None
    return stated_change(text) or _first((Statement(0, 0, _SOME_TIME, text),), 0)


def _first(told: Iterable[Statement], later: int) -> StateChange | None:
    return next((one for one in turns(told, (), _FOURTH) if one.later == later), None)
