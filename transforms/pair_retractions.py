"""Statements that do nothing but take another back."""

from __future__ import annotations

import re

from slowwave.transforms.pair_tokens import READ_CHARACTERS

_ORDER = re.compile(
    r"\s*(?:please,?\s+)?(?:(?:you|we) (?:can|may|should)\s+|let['’]s\s+)?"
    r"(?:(?:forget|scratch|retract|disregard)\s+(?:that|about|the (?:memory|note|fact|statement|claim))"
    r"|(?:delete|remove) the memory|never mind (?:that|about))\b"
    r"(?!.*\b(?:but|instead|rather)\b)"
    r"(?:[^.,;:!?\n]|[.,:;](?=\S))*[\s.!]*",
    re.IGNORECASE,
)


def only_retracts(text: str) -> bool:
    """Whether `text` is one order to forget something ("Forget that …"), and says nothing besides.

    "Ignore the warnings" is a rule, and "no longer likes tea" a fact: they do not only retract.
    """
    return _ORDER.fullmatch(text[:READ_CHARACTERS]) is not None
