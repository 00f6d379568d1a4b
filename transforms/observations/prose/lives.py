"""What people meant to do, or were preparing, and did: told of one person, with the same rare words.

`states.plans` knows what sort of act ends which; here it is enough that the plan and the deed have words in common that
few other statements of that person have.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import timedelta
from itertools import zip_longest

from slowwave.transforms.observations.pairs.tokens import number
from slowwave.transforms.observations.pairs.words import MONTHS, WEEKDAYS
from slowwave.transforms.observations.states.acts import DONE, TO_BE, UNDER_WAY, Act, Phrase, stated_acts
from slowwave.transforms.observations.states.plan_words import (
    AT_ONCE,
    EMPTY_VERBS,
    FINISHED,
    GOING,
    HABITS,
    PLACES,
    PLANNING,
    SAYS_NOTHING,
    TAKING_PART,
    TRYING,
)
from slowwave.transforms.observations.states.words import CANCELLING
from slowwave.transforms.observations.turns.cues import Statement, Turn, by_subject, stem

_SOON = timedelta(days=10)
_AT_ONCE = timedelta(days=3)
_LATER = timedelta(days=60)
_RARE = 3
_KNOWN = 6
_TWO = 2
_DAYS = MONTHS.keys() | WEEKDAYS.keys()
_ENDING = CANCELLING | TAKING_PART | GOING | TRYING | AT_ONCE | EMPTY_VERBS
"""By these nearly any plan may be told as carried out."""
_ACQUIRING = frozenset({"have", "get", "adopt", "buy", "purchase", "acquire", "rent"})
_DAILY = frozenset(
    map(stem, ("breakfast", "lunch", "dinner", "brunch", "coffee", "tea", "gym", "shower", "bed", "store"))
)
"""They come every day: the next is another."""
_WHERE = PLACES | {"", "&", "on"}
_LONG_AGO = re.compile(
    r"\b(?:last year|years? ago|as a (?:child|kid|teenager)|in (?:19|20)\d\d|when (?:he|she|they|i|we) (?:was|were))\b",
    re.IGNORECASE,
)
_OF_SPEAKER = re.compile(r"\W*(?:i|we|you|let|now|the|this|that)\b", re.IGNORECASE)
"""What an agent says of its work, or of a thing, begins so: `done` reads it."""
_SLANG = re.compile(r"\b(?P<is>(?:is|are|was|were|am)\s)?(?P<to>gonna|wanna)\b", re.IGNORECASE)
_BEGUN = re.compile(r"\b(?:start(?:ed|s)|beg(?:an|ins|un)|took up|takes up)\b", re.IGNORECASE)


def done_in_lives(told: Iterable[Statement]) -> Iterator[Turn]:
    """Of each later statement of a person the newest plan that it tells as done; a plan is carried out once."""
    of_others = (one for one in told if not _OF_SPEAKER.match(one.text))
    for some in by_subject(one._replace(text=_SLANG.sub(_written_out, one.text)) for one in of_others):
        yield from _of_one(some)


def _written_out(match: re.Match[str]) -> str:
    return f"{match['is'] or 'is '}going to" if match["to"].lower() == "gonna" else "wants to"


def _of_one(told: list[Statement]) -> Iterator[Turn]:
    acts = [stated_acts(one.text) for one in told]
    count = Counter(word for said in acts for word in {word for act in said.acts for word in _stems(act)})
    plans: list[tuple[Statement, str, Act]] = []
    for one, said in zip(told, acts, strict=True):
        if plans and not _LONG_AGO.search(one.text):
            deeds = [act for act in _whole(said.acts) if _is_deed(act, one.text, is_first=act is said.acts[0])]
            found = _newest(one, said.subject, deeds, plans, lambda word, most: count[word] <= most)
            if found is not None:
                place, deed = found
                before, _, plan = plans.pop(place)
                earlier = before.statement if before.at < one.at else None  # at one time: that tells both
                yield Turn(earlier, one.statement, said.said, "", plan.said, deed.said)
        if not any(act.verb in HABITS for act in said.acts):
            plans += [(one, said.subject, act) for act in said.acts if act.stage in {TO_BE, UNDER_WAY}]


def _whole(acts: Sequence[Act]) -> Iterator[Act]:
    """The acts; what is called off with another act has its words: "cancelled visiting the shelter"."""
    for act, following in zip_longest(acts, acts[1:]):
        is_led = act.verb in CANCELLING and not act.phrases and following is not None
        yield act._replace(phrases=following.phrases) if is_led and following is not None else act


def _is_deed(act: Act, text: str, *, is_first: bool) -> bool:
    if act.verb in HABITS:
        return False
    is_begun = act.stage == UNDER_WAY and ((is_first and act.form == "ing") or _BEGUN.search(text) is not None)
    return act.stage == DONE or is_begun or (act.stage == UNDER_WAY and act.verb in FINISHED)


def _newest(
    one: Statement,
    subject: str,
    deeds: list[Act],
    plans: list[tuple[Statement, str, Act]],
    is_in: Callable[[str, int], bool],
) -> tuple[int, Act] | None:
    for place in range(len(plans) - 1, -1, -1):
        before, whose, plan = plans[place]
        if whose != subject or not subject or before.at > one.at:
            continue
        for deed in deeds:
            if (plan.stage == TO_BE or deed.stage == DONE) and _is_done(plan, deed, one.at - before.at, is_in):
                return place, deed
    return None


def _is_done(plan: Act, deed: Act, apart: timedelta, is_in: Callable[[str, int], bool]) -> bool:
    if not deed.marks <= plan.marks or not _may_end(plan, deed):
        return False
    names = (plan.names & deed.names) - _DAYS
    if plan.names - _DAYS and deed.names - _DAYS and not names:
        return False
    return any(
        _is_one_thing(one, other, plan, deed, apart, is_in)
        for one in plan.phrases
        if one.binder in _WHERE or (one is plan.phrases[0] and one.binder in {"for", "about"})
        for other in deed.phrases
        if other.binder in _WHERE and stem(one.words[-1]) == stem(other.words[-1])
    )


def _may_end(plan: Act, deed: Act) -> bool:
    """Whether what was under way is over by it: a journey, or what was finished since."""
    return plan.stage != UNDER_WAY or plan.verb in GOING or deed.verb in FINISHED


def _is_one_thing(
    one: Phrase, other: Phrase, plan: Act, deed: Act, apart: timedelta, is_in: Callable[[str, int], bool]
) -> bool:
    """Whether what both name is one thing: told by few words of hers, soon after, or with another such word."""
    head, some, more = stem(one.words[-1]), _telling(one.words), _telling(other.words)
    if head in _DAILY or head not in some or (some - {head} and more - {head} and not some & more - {head}):
        return False
    if one.binder in PLACES and plan.verb not in GOING | TAKING_PART:
        return False
    is_there = plan.verb in GOING and one.binder in PLACES and other.binder in PLACES
    is_same_act = stem(plan.verb) == stem(deed.verb) or deed.verb in _ENDING | FINISHED or deed.stage == UNDER_WAY
    if not (is_there or is_same_act):
        return False
    if deed.verb in CANCELLING and apart <= _AT_ONCE:
        return True
    if plan.verb in _ACQUIRING and deed.verb in _ACQUIRING - {"have"} and {one.binder, other.binder} <= {"", "&"}:
        return apart <= _LATER
    is_soon = (apart <= _SOON and is_in(head, _RARE)) or (apart <= _AT_ONCE and is_in(head, _KNOWN))
    return is_soon or (apart <= _LATER and is_in(head, _KNOWN) and len(_stems(plan) & _stems(deed)) >= _TWO)


def _telling(words: Iterable[str]) -> frozenset[str]:
    return frozenset(stem(word) for word in words if word not in SAYS_NOTHING and number(word) is None)


def _stems(act: Act) -> frozenset[str]:
    verb = [] if act.verb in EMPTY_VERBS or act.verb in PLANNING else [act.verb]
    return _telling([*verb, *act.words])
