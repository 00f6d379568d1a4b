"""What a short statement claims, for what changes between two of them to be told.

Of its first clause: "lives in Munich", "the port is 8080", "has two dogs". Of its whole: that one value has taken the
place of another ("moved from A to B"), a label and its value ("coverage: 85 %"), or one number among words. What tells
of "it" or "them", asks, or says "if", claims nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache

from slowwave.transforms.language.inflection import inflection
from slowwave.transforms.observations.pairs.pair_words import MONTHS, NUMBERED, SILENT
from slowwave.transforms.observations.pairs.statement_tokens import base_of, is_identifier, number, tokens
from slowwave.transforms.observations.states.clause_words import Claim, words_of
from slowwave.transforms.observations.states.clauses import clause_claim
from slowwave.transforms.observations.states.state_words import (
    ATTRIBUTES,
    BESIDE_NUMBERS,
    GENERIC_LABELS,
    PRONOUNS,
    STATUS,
)
from slowwave.transforms.observations.states.successions import declared_succession

LONGEST = 400
COUNTED = ("#",)
"""The attribute of a number in a sentence that may be the same but for it."""
_LONGEST_NUMBERED = 20
_LEAST_NUMBERED = 3
_COUNT = re.compile(r"[^;(,\d]*\b\d+ (?:\w+ )?\w+s \w+(?=\s*[;(,]|\s(?:and|with|but)\s)", re.IGNORECASE)
"""What is counted in a first clause: \"all 397 tests pass and …\"."""
_PAST = frozenset({"was", "were", "had", "did", "ago"})
_LONGEST_LABELLED = 3
_CLAUSE_ENDS = re.compile(
    r"[;()]|,\s|\s[-–—]{1,2}\s|\b(?:because|which|where|since|while|although|though|so that|who|whose|but|as well as"
    r"|if|unless|when|whenever|until)\b",
    re.IGNORECASE,
)
_SECOND_SENTENCE = re.compile(r"[.!?]\s+\S")
_LABEL = re.compile(r"^([^:;,.(]{2,60}?)\s*(?:\([^)]*\))?:\s+(.+)$")
_HAS_DIGIT = re.compile(r"\d")


@lru_cache(maxsize=20_000)
def claims(text: str, *, is_numbered: bool = True, is_telling: bool = True) -> tuple[Claim, ...]:
    """What `text` claims; () of more than one sentence, a question or a long text.

    is_numbered: whether its one number is a claim, where nothing else is. is_telling: whether it may declare a
    succession.
    """
    text = text.strip()
    if len(text) > LONGEST or text.endswith("?") or _SECOND_SENTENCE.search(text):
        return ()
    declared = declared_succession(text) if is_telling else None
    text = text.replace("`", "").replace("**", "")
    label = _LABEL.match(text) if ":" in text else None
    if label is not None:
        read = _labelled_claim(label.group(1), label.group(2))
    else:
        read = clause_claim(_CLAUSE_ENDS.split(text, maxsplit=1)[0])
    if read is None and is_numbered and _HAS_DIGIT.search(text):
        read = _numbered_claim(text)
    return tuple(one for one in (declared, read) if one is not None)


def _labelled_claim(label: str, value: str) -> Claim | None:
    """Of "Coverage of the parser: 85 %": a label that names what it is the value of, and a number or a status."""
    subject = words_of(label)
    words = words_of(_CLAUSE_ENDS.split(value, maxsplit=1)[0])
    if (
        not words
        or len(words) > _LONGEST_LABELLED
        or not set(subject) - ATTRIBUTES - GENERIC_LABELS
        or subject[0] in PRONOUNS
    ):
        return None
    status = STATUS.get(words[0])
    if status is None and number(words[0]) is None:
        return None
    attribute = ("is", status) if status else ("is", *words[1:])
    said = (label.strip(), "is", _CLAUSE_ENDS.split(value, maxsplit=1)[0].strip(" ."))
    return Claim(subject, attribute, words[:1], said)


def _numbered_claim(text: str) -> Claim | None:
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
    return Claim(subject, COUNTED, (value[0],), says)


def _unless_past(word: str) -> str:
    """What "passed" is not now."""
    return word if inflection(word).form == "past" else base_of(word)
