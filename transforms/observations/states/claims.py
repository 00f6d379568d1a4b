"""What a short statement claims, for what changes between two of them to be told.

Of its first clause: "lives in Munich", "the port is 8080", "has two dogs", "has never been to Boston", "plans to visit
Boston", "no longer plays chess". Of its whole: that one value has taken the place of another ("moved from A to B"), a
label and its value ("coverage: 85 %"), or one number among words. What tells of "it" or "them", asks, or says "if",
claims nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache

from slowwave.transforms.observations.pairs.statement_tokens import number
from slowwave.transforms.observations.states.clause_words import Claim, words_of
from slowwave.transforms.observations.states.clauses import clause_claims
from slowwave.transforms.observations.states.numbers import numbered_claim, owned_claim
from slowwave.transforms.observations.states.state_words import ATTRIBUTES, GENERIC_LABELS, PRONOUNS, STATUS
from slowwave.transforms.observations.states.transitions import transition_claim

LONGEST = 400
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

    is_numbered: whether its one number is a claim, where nothing else is. is_telling: whether it may tell what changed,
    or how many there are beside.
    """
    text = text.strip().replace("`", "").replace("**", "")
    if len(text) > LONGEST or text.endswith("?") or _SECOND_SENTENCE.search(text):
        return ()
    told, owned = (transition_claim(text), owned_claim(text)) if is_telling else (None, None)
    label = _LABEL.match(text) if ":" in text else None
    if label is not None:
        labelled = _labelled_claim(label.group(1), label.group(2))
        read = (labelled,) if labelled is not None else ()
    else:
        read = clause_claims(_CLAUSE_ENDS.split(text, maxsplit=1)[0])
    numbered = numbered_claim(text) if is_numbered and not read and _HAS_DIGIT.search(text) else None
    return tuple(one for one in (told, *read, numbered, owned) if one is not None)


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
    return Claim("value", subject, attribute, words[:1], frozenset(), 0, is_completed=False, says=said)
