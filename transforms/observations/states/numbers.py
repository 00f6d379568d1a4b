"""Numbers that a statement claims: the one number of a sentence, and how many of a thing somebody has."""

from __future__ import annotations

import re

from slowwave.transforms.language.inflection import inflection
from slowwave.transforms.language.lexicon import NUMBER_WORDS
from slowwave.transforms.observations.pairs.pair_words import MONTHS, NUMBERED, ORDINALS, RELATIVE_DAYS, SILENT
from slowwave.transforms.observations.pairs.statement_tokens import base_of, is_identifier, number, tokens
from slowwave.transforms.observations.states.clause_words import Claim
from slowwave.transforms.observations.states.state_words import BESIDE_NUMBERS, PHRASE_ENDS, PRONOUNS

COUNTED = ("#",)
"""The attribute of a number in a sentence that may be the same but for it."""
_LONGEST_NUMBERED = 20
_LEAST_NUMBERED = 3
_COUNT = re.compile(r"[^;(,\d]*\b\d+ (?:\w+ )?\w+s \w+(?=\s*[;(,]|\s(?:and|with|but)\s)", re.IGNORECASE)
"""What is counted in a first clause: \"all 397 tests pass and …\"."""
_PAST = frozenset({"was", "were", "had", "did", "ago"})
_TIMES = RELATIVE_DAYS | {"day", "hour", "minute", "second", "time"}
_OWNED = re.compile(
    r"^(?:the )?(?P<subject>[\w-]+)\b.*?\b(?P<owned>his|her|their|my|our)\s+"
    r"(?P<count>\d+|two|three|four|five|six|seven|eight|nine|ten)\s+(?P<what>(?:[\w-]+\s+){0,2}[\w-]+)",
    re.IGNORECASE,
)
_ONE_MORE = re.compile(
    r"^(?:the )?(?P<subject>[\w-]+) (?:\w+ ){0,2}?(?:has|have|got|gets?|adopted|adopts?|bought|buys?) a "
    r"(?P<count>second|third|fourth|fifth|sixth)\s+(?P<what>(?:[\w-]+\s+){0,2}[\w-]+)",
    re.IGNORECASE,
)


def numbered_claim(text: str) -> Claim | None:
    """A statement with one number in it, which may have another: "All 158 tests pass"."""
    first = _COUNT.match(text)
    found = [one for one in tokens(first[0] if first else text) if one.text.lower() not in BESIDE_NUMBERS]
    lower = [one.text.lower() for one in found]
    places = [at for at, word in enumerate(lower) if number(word) is not None]
    if len(places) != 1 or not places[0] or len(found) > _LONGEST_NUMBERED or any(word in _PAST for word in lower):
        return None
    (at,) = places
    before = base_of(lower[at - 1]) if at else ""
    if before in NUMBERED or before in MONTHS or inflection(lower[0]).form in {"past", "ing"}:
        return None
    if at + 1 < len(found) and base_of(lower[at + 1]) in MONTHS:
        return None
    if len(lower) > 1 and inflection(lower[1]).form == "past":
        return None
    subject = (*map(_unless_past, lower[:at]), "#", *map(_unless_past, lower[at + 1 :]))
    value = number(lower[at]) or ("", "")
    if len(set(subject) - SILENT) < _LEAST_NUMBERED or any(
        is_identifier(word) and word[-1].isdigit() for word in subject[1:]
    ):
        return None
    subject = (*subject, value[1])
    after = " ".join(one.text for one in found[at : at + 2])
    says = (" ".join(one.text for one in found[:at]), "", after)
    return Claim("value", subject, COUNTED, (value[0],), frozenset(), 0, is_completed=False, says=says)


def _unless_past(word: str) -> str:
    """What "passed" is not now."""
    return word if inflection(word).form == "past" else base_of(word)


def owned_claim(text: str) -> Claim | None:
    """How many of a thing somebody has, as told beside: "walks her three dogs", "got a third turtle"."""
    match = _OWNED.match(text) or _ONE_MORE.match(text)
    if match is None or base_of(match["subject"].lower()) in PRONOUNS:
        return None
    words: list[str] = []
    for one in tokens(match["what"]):
        if one.text.lower() in PHRASE_ENDS:
            break
        words.append(one.text.lower())
        if "owned" in match.groupdict() and inflection(words[-1]).form == "s":
            break
    if not words or base_of(words[-1]) in _TIMES:
        return None
    count = match["count"].lower()
    value = ORDINALS.get(count, "").removesuffix(".") or NUMBER_WORDS.get(count, count)
    is_plural = inflection(words[-1]).form == "s"
    if is_plural != ("owned" in match.groupdict()):
        return None
    thing, said = base_of(words[-1]), f"{count} {' '.join(words)}"
    says = (match["subject"], "has", said)
    return Claim(
        *("value", (base_of(match["subject"].lower()),), ("have", thing), (value,), frozenset(), 0),
        is_completed=False,
        says=says,
    )
