"""How far something has come, as one statement tells it; and which of two such stages goes on from the other."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from functools import cache
from typing import NamedTuple

from slowwave.transforms.language.lexicon import words
from slowwave.transforms.observations.pairs.statement_tokens import number
from slowwave.transforms.observations.states.clause_words import words_of
from slowwave.transforms.observations.states.plan_words import EMPTY_VERBS, SAYS_NOTHING
from slowwave.transforms.observations.states.state_words import SAME_THINGS

_FIRST = re.compile(r"\W*((?:(?:the|our|my|your|his|her|their)\s+)?(\w+))", re.IGNORECASE)
_LETTERS = 6
_RARE = 8
_COMPARED = 64
_PHRASE_ENDS = words(
    "and but so because when while which who that for to with from by after before at in on of as during due since "
    "last next this where if until about"
)


class Cue(NamedTuple):
    """A stage that a statement tells.

    ladder: what sort of thing has stages; only cues of one ladder meet. stage: how far it has come. words: the stems of
    what it is about. names: among these, words that one thing has and another of its sort has not. said: as written.
    is_marked: told apart from those before it ("another", "second").
    """

    ladder: str
    stage: int
    words: frozenset[str]
    names: frozenset[str]
    said: str
    is_marked: bool = False


class Statement(NamedTuple):
    """A statement: its number, where it may meet others, when it was said first, and its text.

    is_staged, is_told, is_step, is_run: whether it may tell a stage of something, a change by itself, a step of work,
    or how tests or a build went.
    """

    statement: int
    scope: int
    at: datetime
    text: str
    is_staged: bool = True
    is_told: bool = True
    is_step: bool = True
    is_run: bool = True


class StatusChange(NamedTuple):
    """From what to what something came, from one statement to another; earlier: None where `later` tells both."""

    earlier: int | None
    later: int
    subject: str
    what: str
    before: str
    after: str


GoesOn = Callable[[Cue, Cue, timedelta, Callable[[str], bool]], bool]
"""Whether the second cue is further on what the first is about; given how far apart, and which stems are rare."""


def stems(phrase: str, *, is_before: bool = False) -> frozenset[str]:
    """The stems of what a phrase names, up to where the name ends; is_before: from where it begins."""
    found: list[str] = []
    named = words_of(phrase)
    for word in reversed(named) if is_before else named:
        if word in _PHRASE_ENDS:
            break
        known = SAME_THINGS.get(word, word)
        if known not in SAYS_NOTHING and known not in EMPTY_VERBS and number(known) is None:
            found.append(stem(known))
    return frozenset(found)


def stem(word: str) -> str:
    """What two forms of one word have alike."""
    return word[:_LETTERS]


def turns_of(
    told: list[Statement], cues_of: Callable[[str], tuple[Cue, ...]], goes_on: dict[str, GoesOn]
) -> Iterator[StatusChange]:
    """Of statements about one subject, in order of time: of each cue the newest before it that it goes on from."""
    if not any(cues_of(one.text) for one in told[1:]):
        return  # and the first need not be read

    @cache
    def count() -> Counter[str]:
        return Counter(word for one in told for word in {stem(word) for word in words_of(one.text)})

    seen: dict[str, list[tuple[Statement, Cue]]] = {}
    for one in told:
        cues = list(cues_of(one.text))
        for cue in cues:
            rule = goes_on[cue.ladder.split(":")[0]]
            found = _newest(one, cue, seen.get(cue.ladder, []), rule, lambda word: count()[word] <= _RARE)
            if found is not None:
                before, earlier = found
                subject, of = _first_words(one.text)[0], _attribute(cue.ladder)
                yield StatusChange(before.statement, one.statement, subject, of, earlier.said, cue.said)
        for cue in cues:
            seen.setdefault(cue.ladder, []).append((one, cue))


def _newest(
    one: Statement, cue: Cue, seen: list[tuple[Statement, Cue]], goes_on: GoesOn, is_rare: Callable[[str], bool]
) -> tuple[Statement, Cue] | None:
    for before, earlier in reversed(seen[-_COMPARED:]):
        if before.at < one.at and goes_on(earlier, cue, one.at - before.at, is_rare):
            return before, earlier
    return None


def by_subject(told: Iterable[Statement]) -> Iterator[list[Statement]]:
    """Statements that begin with one word, articles passed over, and may meet, in order of time."""
    groups: dict[tuple[int, str], list[Statement]] = {}
    for one in told:
        _, word = _first_words(one.text)
        if word:
            groups.setdefault((one.scope, word), []).append(one)
    for some in groups.values():
        if len(some) > 1:
            yield sorted(some, key=lambda one: (one.at, one.statement))


def _attribute(ladder: str) -> str:
    """What of its subject has stages on a ladder, where the ladder's own name or its thing's says it; '' elsewhere."""
    name, _, thing = ladder.partition(": ")
    return thing if name in {"work", "count"} else name if name in {"health", "home"} else ""


def _first_words(text: str) -> tuple[str, str]:
    """What a statement begins with, as written, and its first word that names; '' where none does."""
    match = _FIRST.match(text)
    return ("", "") if match is None else (match[1], match[2].lower())
