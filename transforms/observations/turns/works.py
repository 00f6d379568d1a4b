"""What somebody makes, from its beginning until it is out: a script that is written, finished, handed in, filmed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import timedelta

from slowwave.transforms.language.lexicon import word_map, words
from slowwave.transforms.observations.pairs.statement_tokens import number
from slowwave.transforms.observations.states.acts import DONE, UNDER_WAY, Act, StatedActs
from slowwave.transforms.observations.states.plan_words import EMPTY_VERBS, SAYS_NOTHING
from slowwave.transforms.observations.turns.cues import Cue, stem

_MADE, _FINISHED, _HANDED_ON, _OUT = range(4)
_SOON = timedelta(days=30)
_MAKING = words(
    "write work make build create design develop compose record draft code film shoot paint knit plan prepare edit "
    "produce illustrate program assemble"
)
_FINISHING = words("finish complete conclude finalize wrap accomplish")
_HANDING_ON = words("submit send share present show demo pitch propose")
_COMING_OUT = words("publish release launch ship deploy merge sell screen perform exhibit film shoot air")
_BEGUN = words("film shoot")
"""Once under way, what was written for them is used."""
_WORKS = word_map(
    "script screenplay=script book novel manuscript=book app application=app movie film=movie game=game song=song "
    "album=album video=video article=article paper=paper report=report project=project presentation=presentation "
    "design=design feature=feature patch=patch module=module library=library package=package service=service "
    "tool=tool website site=website blog=blog story=story poem=poem podcast=podcast prototype=prototype robot=robot "
    "thesis=thesis essay=essay proposal=proposal portfolio=portfolio documentary=documentary play=play exhibit=exhibit"
)
_MARKS = words("another second third fourth fifth sixth seventh eighth ninth tenth newest latest")
_ORDINAL = re.compile(
    r"\b(first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth)\b(?! (?:time|week|month|year|day|of)\b)"
)
_OBJECTS = frozenset({"", "&", "on"})


def work_cues(told: StatedActs) -> Iterator[Cue]:
    """How far works have come, as the acts of a statement tell."""
    for act in told.acts:
        stage = _stage(act)
        if stage is None:
            continue
        phrases = [one for one in act.phrases if one.binder in ({"on"} if act.verb == "work" else _OBJECTS)]
        works = frozenset(_WORKS[one.words[-1]] for one in phrases if one.words[-1] in _WORKS)
        if not works:
            continue
        about = [word for word in act.words if word not in _WORKS and number(word) is None]
        telling = {stem(word) for word in about if word not in SAYS_NOTHING and word not in EMPTY_VERBS}
        ordinals = frozenset(_ORDINAL.findall(act.said.lower()))
        is_marked = not _MARKS.isdisjoint(act.marks)
        for work in sorted(works):
            yield Cue(f"work: {work}", stage, frozenset(telling) - ordinals, ordinals, act.said, is_marked)


def _stage(act: Act) -> int | None:
    if act.verb in _COMING_OUT and (act.stage == DONE or (act.stage == UNDER_WAY and act.verb in _BEGUN)):
        return _OUT
    if act.verb in _HANDING_ON and act.stage == DONE:
        return _HANDED_ON
    if act.verb in _FINISHING and act.stage == DONE:
        return _FINISHED
    if act.verb in _MAKING and act.stage in {UNDER_WAY, DONE}:
        return _MADE if act.stage == UNDER_WAY or act.form != "past" else _FINISHED
    return None


def further(before: Cue, after: Cue, apart: timedelta, is_rare: Callable[[str], bool]) -> bool:
    """Whether the second tells a later stage of the same work: the same by number, by a rare word, or told soon."""
    if not before.stage < after.stage or after.stage == _MADE:
        return False
    same = before.words & after.words
    if before.names and after.names:
        return before.names == after.names
    if any(map(is_rare, same)):
        return True
    if before.names or after.names or (before.words and after.words and not same):
        return False
    return apart <= _SOON and (before.is_marked or not after.is_marked)
