"""What was to be, or under way, and later was done: a plan and the act that carries it out.

Both are of one subject. They are one thing by a place and another word ("a game in Seattle"), by what is played, read
or visited, by the act and what it is done with ("get a dog"), by what takes place ("the pottery workshop"), or because
what was being made is finished ("released the album"). Of what is told often, which one is meant is not known: then
only what follows within a month is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from itertools import chain
from typing import NamedTuple

from slowwave.transforms.language.lexicon import SYNONYMS
from slowwave.transforms.observations.pairs.statement_tokens import number
from slowwave.transforms.observations.states.acts import DONE, TO_BE, UNDER_WAY, Act, StatedActs, stated_acts
from slowwave.transforms.observations.states.plan_words import (
    ACTS,
    AGREEMENTS,
    AT_ONCE,
    CREATING,
    EMPTY_VERBS,
    EVENTS,
    FINISHED,
    GOING,
    HABITS,
    NO_PURPOSE,
    PLACES,
    PLANNING,
    ROUTINE,
    SAYS_NOTHING,
    TAKING_IN,
    TAKING_PART,
    TICKETS,
    TRYING,
)
from slowwave.transforms.observations.states.state_words import ACCOMPLISHED, CANCELLING

_LONG_AGO = re.compile(
    r"\b(?:last year|years? ago|as a (?:child|kid|teenager)|in (?:19|20)\d\d|when (?:he|she|they|i|we) (?:was|were))\b",
    re.IGNORECASE,
)
_FIRST = re.compile(r"\W*(?:(?:the|our|my|your|his|her|their)\s+)?(\w+)", re.IGNORECASE)
_WORD = re.compile(r"[a-z0-9]{3,}")
_FIRST_LETTERS = 4
_OFTEN = 8
_SOON = timedelta(days=30)
_LEAST_STEM = 5
_LONGEST_ENDING = 5
_RELATIVE = frozenset({"last", "next", "this", "every"})


class Said(NamedTuple):
    """A statement's number, where it may meet others, when it was said first, its text, whether it may tell a plan."""

    statement: int
    scope: int
    at: datetime
    text: str
    is_plan: bool


class CarriedOut(NamedTuple):
    """A plan's statement, that of the act which carries it out, whose and what it is, and both as written."""

    earlier: int
    later: int
    subject: str
    what: str
    before: str
    after: str


def carried_out(said: Iterable[Said]) -> Iterator[CarriedOut]:
    """Of each later statement the newest plan that it tells as done; a plan is carried out once."""
    by_subject: dict[tuple[int, str], list[Said]] = {}
    for one in said:
        first = _FIRST.match(one.text)
        if first is not None:
            by_subject.setdefault((one.scope, first.group(1).lower()), []).append(one)
    for some in by_subject.values():
        if len(some) > 1 and any(one.is_plan for one in some):
            yield from _of_one(some)


def _of_one(said: list[Said]) -> Iterator[CarriedOut]:
    """Of statements that begin with one word."""
    said.sort(key=lambda one: (one.at, one.statement))
    words = [{word[:_FIRST_LETTERS] for word in _WORD.findall(one.text.lower())[1:]} for one in said]
    often = {word for word, count in Counter(chain.from_iterable(words)).items() if count > _OFTEN}
    plans = _OpenPlans()
    open_words: set[str] = set()
    for place, one in enumerate(said):
        if not open_words.isdisjoint(words[place]):
            told = stated_acts(one.text)
            found = _newest(said, often, plans, one, told)
            if found is not None and not _LONG_AGO.search(one.text):
                number_of, plan, deed, what = found
                plans.close(number_of)
                earlier = said[plan.place].statement
                yield CarriedOut(earlier, one.statement, told.said, what, plan.act.said, deed.said)
        if one.is_plan:
            told = stated_acts(one.text)
            meant = [act for act in told.acts if act.stage in {TO_BE, UNDER_WAY}]
            if meant and told.subject:
                plans.add(place, told, meant)
                open_words |= words[place]


class _Plan(NamedTuple):
    """The place of a statement that tells a plan, what is meant, and the names told with it."""

    place: int
    act: Act
    told: frozenset[str]


class _OpenPlans:
    """What was meant and is not done, in the order told. A deed is asked only about plans that share a mark with it.

    Where thousands of statements begin with "the user", to ask about all of them would take minutes.
    """

    def __init__(self) -> None:
        self._plans: list[_Plan] = []
        self._by_mark: dict[tuple[str, _Mark], list[int]] = {}
        self._closed: set[int] = set()

    def add(self, place: int, told: StatedActs, meant: Iterable[Act]) -> None:
        names = frozenset().union(*(act.names for act in told.acts))
        for act in meant:
            for mark in _marks_of_plan(act):
                self._by_mark.setdefault((told.subject, mark), []).append(len(self._plans))
            self._plans.append(_Plan(place, act, names))

    def close(self, number_of: int) -> None:
        self._closed.add(number_of)

    def newest_first(self, subject: str, deeds: Iterable[Act]) -> Iterator[tuple[int, _Plan]]:
        """Numbers and plans of a subject of which one of the deeds may be the end."""
        marks = {mark for deed in deeds for mark in _marks_of_deed(deed)}
        numbers = {each for mark in marks for each in self._by_mark.get((subject, mark), ())}
        for each in sorted(numbers - self._closed, reverse=True):
            yield each, self._plans[each]


_Mark = tuple[str, ...]


def _marks_of_plan(plan: Act) -> set[_Mark]:
    """What a plan shares at least one of with each deed that `_one_thing` may call the same."""
    heads = {_stem(head) for head in plan.heads}
    acts: set[_Mark] = {("act", _act(plan.verb)), ("verb", _stem(plan.verb)), ("any",)}
    if plan.verb in PLANNING:
        acts.add(("planned",))
    return _name_marks(plan) | {("event", head) for head in heads} | {(*act, head) for act in acts for head in heads}


def _marks_of_deed(deed: Act) -> set[_Mark]:
    """The same of a deed."""
    act = _act(deed.verb)
    acts: set[_Mark] = {("act", act), ("verb", _stem(deed.verb))}
    if deed.verb in FINISHED or deed.verb in CANCELLING:
        acts.add(("any",))
    if act == "get":
        acts.add(("planned",))
    events = {("event", _stem(head)) for head in deed.heads if head in EVENTS}
    return _name_marks(deed) | events | {(*one, _stem(head)) for one in acts for head in deed.heads}


def _name_marks(act: Act) -> set[_Mark]:
    """Names, and what is named with two words."""
    twos = {phrase.words[-2:] for phrase in act.phrases if len(phrase.words) > 1}
    return {("name", name) for name in act.names} | {("two", *two) for two in twos if all(map(_tells, two))}


def _newest(
    said: list[Said], often: set[str], plans: _OpenPlans, one: Said, told: StatedActs
) -> tuple[int, _Plan, Act, str] | None:
    deeds = [
        act
        for act in told.acts
        if (act.stage == DONE and act.verb not in HABITS) or (act.stage == TO_BE and act.verb in CANCELLING)
    ]
    for number_of, plan in plans.newest_first(told.subject, deeds):
        earlier_at = said[plan.place].at
        if earlier_at >= one.at:
            continue
        for deed in deeds:
            same = _one_thing(plan.act, deed, plan.told)
            is_sure = one.at - earlier_at <= _SOON or not same.isdisjoint(deed.names)
            if same and (is_sure or not _may_be_another(same, often)):
                return number_of, plan, deed, _find_phrase_text(deed, same)
    return None


def _may_be_another(same: frozenset[str], often: set[str]) -> bool:
    """Whether there are many of what two acts have in common: the one may be about another than the other."""
    return all(word in ROUTINE or word[:_FIRST_LETTERS] in often for word in same)


def _find_phrase_text(deed: Act, same: frozenset[str]) -> str:
    return next((phrase.said for phrase in deed.phrases if not same.isdisjoint(phrase.words)), "")


def _one_thing(plan: Act, deed: Act, told: frozenset[str]) -> frozenset[str]:
    """What the two have in common, if the one is the other carried out; told: names in the plan's statement."""
    act, meant = _act(deed.verb), _act(plan.verb)
    if deed.form != "past" and act not in AT_ONCE and deed.verb != "have":
        return frozenset()
    if not deed.marks <= plan.marks:
        return frozenset()
    is_same_act = act == meant or _is_stem(plan.verb, deed.verb)
    names = plan.names & deed.names
    is_other = not names and bool(told) and bool(deed.names) and told.isdisjoint(deed.names)
    objects = [phrase.words[-1] for phrase in deed.phrases if phrase.binder in {"", "&"}]
    heads = _shared_words(objects, plan.heads)
    is_made = meant in CREATING | ACCOMPLISHED | FINISHED and _is_finished_by(meant, _act(deed.inner))
    if deed.verb in FINISHED and heads and not is_other and is_made:
        return heads
    if deed.verb in CANCELLING and heads and not is_other:
        return heads
    if plan.stage == UNDER_WAY:
        is_accomplished = is_same_act and plan.verb in ACCOMPLISHED and deed.form == "past" and not is_other
        return heads if is_accomplished else frozenset()
    if names:
        named = _by_name(plan, deed, is_same_act=is_same_act)
        if named:
            return named
    if is_other or (deed.verb == "have" and deed.form != "past"):
        return frozenset()
    if act == "get" and plan.verb in PLANNING and plan.verb != "need" and heads & set(plan.heads[:1]):
        return heads
    return _by_words(plan, deed, heads, is_same_act=is_same_act)


def _by_name(plan: Act, deed: Act, *, is_same_act: bool) -> frozenset[str]:
    """A place and one word more, where somebody went, what was played or read, or with whom was agreed."""
    act, meant = _act(deed.verb), _act(plan.verb)
    names = plan.names & deed.names
    placed = _names_after(plan, PLACES | {""}) & _names_after(deed, PLACES | {""})
    words = _shared_words(
        [*([plan.verb] if plan.verb not in PLANNING else []), *{*plan.words} - plan.names - TICKETS],
        [word for word in (deed.verb, *deed.words) if word not in deed.names],
    )
    if placed & _names_after(plan, PLACES) and words:
        return placed | words
    if placed and act == "visit" and (plan.verb in PLANNING or meant in GOING):
        return placed
    if act == "get" and any(phrase.words[-1] in AGREEMENTS for phrase in deed.phrases if phrase.binder in {"", "&"}):
        return names
    is_tried = plan.verb in TRYING and deed.verb in TRYING
    return placed if (is_same_act and plan.verb not in EMPTY_VERBS) or is_tried else frozenset()


def _by_words(plan: Act, deed: Act, heads: frozenset[str], *, is_same_act: bool) -> frozenset[str]:
    """The same act with the same thing, or what takes place, or a thing named with two words."""
    if plan.verb in NO_PURPOSE:
        return frozenset()
    twos = {one.words[-2:] for one in plan.phrases} & {one.words[-2:] for one in deed.phrases}
    for two in twos:
        if len(two) > 1 and all(map(_tells, two)) and deed.verb not in EMPTY_VERBS:
            return frozenset(two)
    act, meant = _act(deed.verb), _act(plan.verb)
    events = _shared_words(deed.heads, plan.heads) & EVENTS
    is_event = bool(events) and act in TAKING_PART and (plan.verb in PLANNING or meant in TAKING_PART)
    if not ((is_same_act and heads) or is_event):
        return frozenset()
    same = heads if is_same_act and heads else events
    shared = _shared_words(_others(deed, same), _others(plan, same))
    if not shared and (not same.isdisjoint(ROUTINE) or (_beside(deed, same) and _beside(plan, same))):
        return frozenset()
    return same | shared


def _is_finished_by(meant: str, inner: str) -> bool:
    return not inner or inner == meant or not TAKING_IN & {inner, meant}


def _beside(act: Act, same: frozenset[str]) -> bool:
    """Whether the thing's own phrase says which: "pottery class"."""
    return any(
        word not in same and _tells(word)
        for phrase in act.phrases
        if not same.isdisjoint(phrase.words)
        for word in phrase.words
    )


def _others(act: Act, same: frozenset[str]) -> frozenset[str]:
    """The words that say more of the thing."""
    words = [word for phrase in act.phrases if phrase.binder not in _RELATIVE for word in phrase.words]
    return frozenset(word for word in words if word not in same and number(word) is None and _tells(word))


def _names_after(act: Act, binders: frozenset[str]) -> frozenset[str]:
    return frozenset(name for phrase in act.phrases if phrase.binder in binders for name in phrase.names)


def _tells(word: str) -> bool:
    return word not in SAYS_NOTHING and word not in EMPTY_VERBS


def _shared_words(some: Iterable[str], others: Iterable[str]) -> frozenset[str]:
    """The first's words that have one stem with one of the others."""
    others = [word for word in others if _tells(word)]
    return frozenset(word for word in some if _tells(word) and any(_is_stem(word, other) for other in others))


def _is_stem(one: str, other: str) -> bool:
    """Whether two words are forms of one: "performance" and "perform"."""
    if one == other:
        return True
    length = min(len(one), len(other)) - 1
    return (
        length >= _LEAST_STEM - 1
        and one[: max(length, _LEAST_STEM)] == other[: max(length, _LEAST_STEM)]
        and abs(len(one) - len(other)) <= _LONGEST_ENDING
    )


def _stem(word: str) -> str:
    """What two words have alike if `_is_stem` holds of them."""
    return word[:_LEAST_STEM]


def _act(verb: str) -> str:
    known = SYNONYMS.get(verb, verb)
    return ACTS.get(verb) or ACTS.get(known, known)
