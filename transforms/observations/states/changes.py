"""Changes of state between statements: the same attribute of the same subject, another value, or an act come further.

A value changes from one statement to the next of the same subject and attribute. What has several values at one time is
a list, and changes nothing by growing; nor does a value by being told in more words or fewer. An act changes from
planned, or not yet done, to begun or done, from under way to finished, and from what is so to what no longer is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import pairwise
from typing import NamedTuple

from slowwave.transforms.observations.pairs.pair_words import MONTHS, WEEKDAYS
from slowwave.transforms.observations.states.claims import claims
from slowwave.transforms.observations.states.clause_words import (
    DONE,
    GOING,
    NOT_YET,
    OVER,
    PLANNED,
    PRESENT,
    SOME,
    Claim,
    words_of,
)
from slowwave.transforms.observations.states.numbers import COUNTED
from slowwave.transforms.observations.states.plans import Said, carried_out
from slowwave.transforms.observations.states.state_words import ACCOMPLISHED

_COMPARED = 16
_LIST_VALUES = 12
_DAY = timedelta(days=1)
_NO_TIME = timedelta(0)
_SOME_TIME = datetime(2000, 1, 1)  # noqa: DTZ001 - only which of two is later counts
_LATER = _SOME_TIME + 2 * _DAY
_AT_ONCE = 2
_NEAR = 1.25
_PLAIN = re.compile(r"\d{1,12}(?:\.\d+)?")


class StateChange(NamedTuple):
    """What of what changed from what to what, from one statement (number) to another.

    earlier: None where `later` tells both.
    """

    earlier: int | None
    later: int
    subject: str
    attribute: str
    before: str
    after: str

    @property
    def reason(self) -> str:
        """What changed, in words."""
        of = " ".join(part for part in (self.subject, self.attribute) if part)
        return f"{of}: {self.before}, then {self.after}" if of else f"{self.before}, then {self.after}"


class Stated(NamedTuple):
    """A statement: its number, a number for where it may meet others, when it was said first and last, and its text.

    is_numbered: whether another may say the same with another number. is_telling: whether it may tell a
    change by itself. is_plan: whether it may tell of what is to be.
    """

    statement: int
    scope: int
    first_at: datetime
    said_at: datetime
    content: str
    is_numbered: bool = True
    is_telling: bool = True
    is_plan: bool = True


class _One(NamedTuple):
    first_at: datetime
    said_at: datetime
    statement: int
    claim: Claim


_Key = tuple[int, tuple[str, ...], tuple[str, ...]]


def state_changes(stated: Iterable[Stated]) -> list[StateChange]:
    """The changes between statements, in order of their numbers."""
    values: dict[_Key, list[_One]] = {}
    acts: dict[_Key, list[_One]] = {}
    told: list[tuple[int, _One]] = []
    said: list[Said] = []
    for one in stated:
        said.append(Said(one.statement, one.scope, one.first_at, one.content, one.is_plan))
        for claim in claims(one.content, is_numbered=one.is_numbered, is_telling=one.is_telling):
            found = _One(one.first_at, one.said_at, one.statement, claim)
            if claim.sort == "told":
                told.append((one.scope, found))
            else:
                by_key = values if claim.sort == "value" else acts
                by_key.setdefault((one.scope, claim.subject, claim.attribute), []).append(found)
    changes = [change for group in values.values() if len(group) > 1 for change in _of_value(group)]
    changes += [change for group in acts.values() for change in _of_act(group)]
    changes += _stated_changes(told, values)
    known = {(one.earlier, one.later) for one in changes}
    changes += [
        StateChange(*one[:2], one.subject, one.what, one.before, one.after)
        for one in carried_out(said)
        if one[:2] not in known
    ]
    return sorted(set(changes), key=lambda one: (one.later, -1 if one.earlier is None else one.earlier, one))


def change_between(before: str, after: str) -> StateChange | None:
    """What changed from one text to another that was said later; None: nothing that can be told."""
    if not claims(after):
        return None  # and `before` need not be read
    stated = (Stated(0, 0, _SOME_TIME, _SOME_TIME, before), Stated(1, 0, _LATER, _LATER, after))
    return next((one for one in state_changes(stated) if one.later == 1), None)


def stated_change(text: str) -> StateChange | None:
    """What changed, as a text itself tells: "moved from A to B"; None: it does not tell."""
    return next(iter(state_changes((Stated(0, 0, _SOME_TIME, _SOME_TIME, text),))), None)


def _of_value(group: list[_One]) -> Iterable[StateChange]:
    group.sort(key=lambda one: (one.said_at, one.statement))
    if group[0].claim.attribute == COUNTED:
        yield from _of_count(group)
        return
    if len({one.claim.value for one in group}) > _LIST_VALUES:
        return
    if any(a.said_at == b.said_at and _is_other(a.claim, b.claim) for a, b in pairwise(group)):
        return
    if any(
        c.said_at - a.said_at < _DAY and len({a.claim.value, b.claim.value, c.claim.value}) > _AT_ONCE
        for a, b, c in zip(group, group[1:], group[2:], strict=False)
    ):
        return
    for before, after in pairwise(group):
        apart = after.said_at - before.said_at
        if apart > _NO_TIME and _is_other(before.claim, after.claim) and (apart >= _DAY or _is_sure(after.claim)):
            yield _change(before, after)


def _of_count(group: list[_One]) -> Iterable[StateChange]:
    """Numbers in a sentence that is otherwise the same: one that is far from another may count something else."""
    is_one = len(group) <= _AT_ONCE or all(b.said_at - a.said_at >= _DAY for a, b in pairwise(group))
    for place, after in enumerate(group):
        earlier = group[:place]
        near = [one for one in earlier[-_COMPARED:] if is_one or _is_near(one.claim.value[0], after.claim.value[0])]
        if near and near[-1].said_at < after.said_at and near[-1].claim.value != after.claim.value:
            yield _change(near[-1], after)


def _is_near(one: str, other: str) -> bool:
    """Whether two numbers are within a quarter of the larger."""
    a, b = (float(number) if _PLAIN.fullmatch(number) else 0.0 for number in (one, other))
    return min(a, b) * _NEAR >= max(a, b) > 0


def _is_sure(claim: Claim) -> bool:
    """Whether two values within a day are no two at once: a number or a status, and no name."""
    return claim.value[-1].isdigit() or (len(claim.attribute) > 1 and claim.attribute[0] == "is") or claim.is_now


def _is_other(a: Claim, b: Claim) -> bool:
    """Whether one value is not the other in more words or fewer."""
    one, other = set(a.value), set(b.value)
    if SOME in one | other:
        return "0" in one | other
    return not (one <= other or other <= one)


def _of_act(group: list[_One]) -> Iterable[StateChange]:
    """What was said first counts: of what is said again after it was over, both are told, for people to settle."""
    group.sort(key=lambda one: (one.first_at, one.statement))
    met: dict[str, list[_One]] = {}
    for later in group:
        anchors = dict.fromkeys((*sorted(later.claim.names), later.claim.value[-1]))
        known = [one for anchor in anchors for one in met.get(anchor, [])[-_COMPARED:]]
        before = max(
            (one for one in known if one.first_at < later.first_at and _is_further(one.claim, later.claim)),
            key=lambda one: (one.first_at, one.statement),
            default=None,
        )
        if before is not None:
            yield _change(before, later)
        elif later.claim.stage == OVER and later.claim.attribute != ("plan",):
            subject, of, now = later.claim.says
            yield StateChange(None, later.statement, subject, of, later.claim.before, now)
        for anchor in anchors:
            met.setdefault(anchor, []).append(later)


def _is_further(a: Claim, b: Claim) -> bool:
    if a.stage in {NOT_YET, PLANNED}:
        further = {PRESENT, DONE} if a.stage == NOT_YET else {GOING, PRESENT, DONE}
        is_further = b.stage in further or (b.stage == OVER and b.attribute[0] == "plan")
    elif a.stage == GOING:
        is_finished = b.is_completed or (b.stage == DONE and b.attribute[0] in ACCOMPLISHED)
        is_further = b.stage == OVER or (is_finished and b.stage in {PRESENT, DONE})
    else:
        is_further = a.stage == PRESENT and b.stage == OVER
    return is_further and _is_one_object(a, b)


def _is_one_object(a: Claim, b: Claim) -> bool:
    days = {*MONTHS, *WEEKDAYS}
    names, others = a.names - days, b.names - days
    if names:
        return bool(names & others)
    shared = set(a.value) & set(b.value)
    if a.value[-1] != b.value[-1]:
        return False
    if len(shared) > 1 or b.is_known or (a.value == b.value and len(b.value) > 1):
        return True
    return b.attribute[0] not in {"make", "plan"} and (a.stage == GOING or a.value == b.value)


def _stated_changes(told: list[tuple[int, _One]], values: dict[_Key, list[_One]]) -> Iterable[StateChange]:
    """What a statement itself tells as changed; from the statement of the value until then, where there is one."""
    known: dict[tuple[int, tuple[str, ...]], list[_One]] = {}
    for (scope, _, _), group in values.items():
        for one in group:
            known.setdefault((scope, one.claim.value), []).append(one)
    for scope, later in told:
        claim = later.claim
        before = [
            one
            for one in known.get((scope, words_of(claim.before)), [])
            if one.first_at < later.first_at and set(one.claim.subject) & set(claim.subject)
        ]
        subject, attribute, after = claim.says
        yield StateChange(
            max(before, key=lambda one: (one.first_at, one.statement)).statement if before else None,
            later.statement, subject, attribute, claim.before, after,
        )  # fmt: skip


def _change(before: _One, after: _One) -> StateChange:
    _, _, was = before.claim.says
    subject, attribute, now = after.claim.says
    return StateChange(before.statement, after.statement, subject, attribute, was, now)
