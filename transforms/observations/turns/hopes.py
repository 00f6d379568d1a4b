"""What is awaited, learned, looked for or in trouble, and what comes of it: an application and its answer, a repair."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import timedelta

from slowwave.transforms.language.hinted import Hinted
from slowwave.transforms.observations.turns.cues import Cue, stem, stems
from slowwave.transforms.observations.turns.phrases import PHRASES, beside, is_so

_HOMES = "apartment|house|flat|place|home|condo|studio"
_HOME = rf"(?:[\w-]+ ){{0,3}}(?:{_HOMES})\b"
_SEEKS_HOME = Hinted(
    rf"\b(?:look|search|hunt)(?:s|ed|ing)? for (?:an?|new) {_HOME}|\btrying to find (?:an?|new) {_HOME}"
    r"|\b(?:apartment|house|flat|home)[- ](?:hunting|search)\b",
    _HOMES,
)
_HAS_HOME = Hinted(
    r"\b(?:moved?s? (?:in)?to|found|finds|bought|buys|rented|rents|settled into) "
    rf"(?:an?|his|her|their|our|my|the) {_HOME}",
    _HOMES,
)
_LEAST_SHARED = 2
_MONTHS = timedelta(days=120)


def hope_cues(text: str, subject: str) -> Iterator[Cue]:
    """What a statement tells as awaited or in trouble, or as come about or over."""
    named = stem(subject)
    for ladder, stage, side, pattern in PHRASES:
        for match in pattern.finditer(text):
            about = stems(beside(text, *match.span(), side), is_before=side == "before") - {named}
            if about and (stage == 0 or is_so(text, match.start())):
                yield Cue(ladder, stage, about, frozenset(), _text_at_match(text, match, side))
    if (seeks := _SEEKS_HOME.search(text)) is not None:
        yield Cue("home", 0, frozenset(), frozenset(), seeks.group())
    elif (has := _HAS_HOME.search(text)) is not None and is_so(text, has.start()):
        yield Cue("home", 1, frozenset(), frozenset(), has.group())


def _text_at_match(text: str, match: re.Match[str], side: str) -> str:
    around = beside(text, *match.span(), "before" if side == "before" else "after")
    return f"{around} {match.group()}" if side == "before" else f"{match.group()} {around}"


def came_about(before: Cue, after: Cue, apart: timedelta, is_rare: Callable[[str], bool]) -> bool:
    """Whether what was awaited came: the same by two words, or by a rare one within months."""
    same = before.words & after.words
    is_same = len(same) >= _LEAST_SHARED or (apart <= _MONTHS and any(map(is_rare, same)))
    return before.stage < after.stage and is_same


def moved_in(before: Cue, after: Cue, _: timedelta, __: Callable[[str], bool]) -> bool:
    """Whether who looked for a home has one."""
    return before.stage < after.stage
