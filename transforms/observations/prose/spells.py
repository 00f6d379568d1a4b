"""Spells that somebody goes through, and that they are worse or over: ill and better, away and back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import NamedTuple

from slowwave.transforms.observations.turns.cues import Statement, Turn, by_subject, stems
from slowwave.transforms.observations.turns.phrases import is_so

_BAD, _WORSE, _WELL = range(3)
_WEEKS, _ZERO = timedelta(days=21), timedelta(0)
_NAME = re.compile(r"\b[A-Z][a-z]+\b")
_FIRST = re.compile(r"\s")
_BEGINS = re.compile(r"\b(?:start(?:s|ed|ing)|beg(?:an|ins)|manage[ds]|(?:was|is) able) to\s", re.IGNORECASE)
_HEALTH = (
    (
        _WELL,
        re.compile(
            r"\b(?:feel\w* (?:a (?:bit|little|lot) |much |way |so much |somewhat )?(?:better|fine|great|well)"
            r"|(?:got|gets"
            r"|getting|doing|is) (?:a (?:bit|little|lot) |much )?better|recover(?:ed|s)|(?:got|gets) over (?:the"
            r"|his|her"
            r"|their) (?:flu|cold|illness|covid|sickness)|healthy again|no longer (?:sick|ill)|tested negative)\b",
            re.IGNORECASE,
        ),
    ),
    (
        _WORSE,
        re.compile(
            r"\b(?:(?:got|gets|getting|feel\w*|is) (?:even |much |a lot )?worse|worsen(?:ed|s))\b", re.IGNORECASE
        ),
    ),
    (
        _BAD,
        re.compile(
            r"\b(?:sick|ill|flu|covid|fever|(?:caught|has|got|had) a (?:bad )?cold|not spell (?:well|good)|unwell"
            r"|migraine|food poisoning|pneumonia|infection|injur(?:ed|y)|stomach ?aches?|hung ?over)\b",
            re.IGNORECASE,
        ),
    ),
)
_MOOD = (
    (
        _WELL,
        re.compile(
            r"\b(?:(?:got|gets|getting|is|gotten) over (?:it|his|her|their|the)|calmed down|relieved|cheered up"
            r"|made up with"
            r"|reconciled|(?:solve[ds]?|resolve[ds]?|sort(?:ed|s)? out) (?:(?:the|his|her|their"
            r"|some) )?(?:\w+ )?(?:problems?|issues?|conflicts?)"
            r"|no longer (?:upset|worried|angry|sad|annoyed|anxious|nervous|stressed|afraid|scared)"
            r"|feel\w* (?:much |a lot |so much )?(?:happier|calmer))\b",
            re.IGNORECASE,
        ),
    ),
    (
        _BAD,
        re.compile(
            r"\b(?:upset|annoyed|angry|mad at|sad|worried|anxious|nervous|stressed|afraid|scared|lonely|heartbroken"
            r"|disappoint(?:ed|ment)|depressed|overwhelmed|frustrated|devastated|ignoring (?:him|her|them)"
            r"|fight with|fought with|argument with)\b",
            re.IGNORECASE,
        ),
    ),
)


class _Spell(NamedTuple):
    """How far it is, the stems of what it is about, and as written."""

    stage: int
    about: frozenset[str]
    said: str


_AWAY = (
    (
        _WELL,
        re.compile(
            r"\b(?:return(?:s|ed|ing)? (?:back |home )?(?:from|after|home)|(?:came|comes|coming|got|gets|getting"
            r"|is|are|was) "
            r"(?:just )?back (?:home|from)|returning back|returned home)\b",
            re.IGNORECASE,
        ),
    ),
    (
        _BAD,
        re.compile(
            r"\b(?:caught a flight|flew|fl(?:ies|ying)|le(?:ft|aves|aving)|depart\w*|travel(?:l?ed|s|l?ing)|went"
            r"|goes|going"
            r"|(?:is|are) (?:now )?on) (?:to|for|on|in|a|an|vacation)\b(?= .*\b(?:city|trip|vacation|holiday"
            r"|flight|abroad"
            r"|[A-Z][a-z]+))",
        ),
    ),
)


def gone_through(told: Iterable[Statement]) -> Iterator[Turn]:
    """Of what statements tell of how somebody is, each that is further than what was told of it last."""
    for some in by_subject(told):
        last: dict[str, tuple[Statement, _Spell]] = {}
        for one in some:
            for sort, spell in _spells(one.text):
                before = last.get(sort)
                if before is not None and _is_further(before[1], spell) and _ZERO < one.at - before[0].at <= _WEEKS:
                    yield Turn(
                        before[0].statement, one.statement, _FIRST.split(one.text)[0], "", before[1].said, spell.said
                    )
                last[sort] = (one, spell)


def _spells(text: str) -> Iterator[tuple[str, _Spell]]:
    text = _BEGINS.sub("", text)
    for sort, stages in (("health", _HEALTH), ("mood", _MOOD), ("journey", _AWAY)):
        for stage, pattern in stages:
            match = pattern.search(text)
            if match is not None and stage != _BAD and not is_so(text, match.start()):
                break
            if match is not None:
                yield sort, _Spell(stage, _about(sort, text[match.end() :]), match.group())
                break


def _about(sort: str, rest: str) -> frozenset[str]:
    """What it is about: the stems of what upsets, the names of places."""
    if sort == "journey":
        return frozenset(_NAME.findall(rest))
    told = stems(rest.split(",", maxsplit=1)[0]) if sort == "mood" else frozenset()
    return frozenset(word for word in told if word.isalpha())


def _is_further(before: _Spell, after: _Spell) -> bool:
    """Whether who was ill, upset or away is worse, over it or back: of the same thing, where both name one."""
    is_one = not before.about or not after.about or not before.about.isdisjoint(after.about)
    return before.stage < after.stage and is_one
