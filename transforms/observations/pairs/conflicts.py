"""What keeps two statements apart, whatever their words have in common, and statements that only take one back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from slowwave.transforms.observations.pairs.reading import ParsedStatement
from slowwave.transforms.observations.pairs.statement_tokens import (
    OPPOSING_PREFIXES,
    OPPOSITES,
    READ_CHARACTERS,
    SCALES,
)

_ORDER = re.compile(
    r"\s*(?:please,?\s+)?(?:(?:you|we) (?:can|may|should)\s+|let['’]s\s+)?"
    r"(?:(?:forget|scratch|retract|disregard)\s+(?:that|about|the (?:memory|note|fact|statement|claim))"
    r"|(?:delete|remove) the memory|never mind (?:that|about))\b"
    r"(?!.*\b(?:but|instead|rather)\b)"
    r"(?:[^.,;:!?\n]|[.,:;](?=\S))*[\s.!]*",
    re.IGNORECASE,
)

ConflictKind = Literal[
    "number", "negation", "date", "name", "opposite", "role", "qualifier", "tense", "question", "change"
]

_ONE = frozenset({"one"})
_ON_SCALES = SCALES | OPPOSITES.keys()


class Conflict(NamedTuple):
    """One way in which two statements differ: what only the first says, and what only the second says."""

    kind: ConflictKind
    mine: tuple[str, ...]
    other: tuple[str, ...]

    @property
    def is_two_sided(self) -> bool:
        """Both say something, and not the same: a value against a value."""
        return bool(self.mine and self.other)

    @property
    def is_order(self) -> bool:
        """Only which word comes first differs; no preposition gives a word another part."""
        return self.kind == "role" and not any(" " in value for value in (*self.mine, *self.other))


def _apart(kind: ConflictKind, mine: tuple[str, ...], other: tuple[str, ...]) -> list[Conflict]:
    if mine == other:
        return []
    if not mine or not other:
        return [Conflict(kind, tuple(sorted(mine)), tuple(sorted(other)))]
    only_a, only_b = _beyond(mine, other), _beyond(other, mine)
    return [Conflict(kind, only_a, only_b)] if only_a or only_b else []


def _beyond(mine: Sequence[str], other: Sequence[str]) -> tuple[str, ...]:
    """What `mine` has more often than `other`, in order; of the few words that there are, sooner than by counting."""
    left = sorted(mine)
    for word in other:
        if word in left:
            left.remove(word)
    return tuple(left)


def _numbers(one: ParsedStatement, other: ParsedStatement) -> tuple[str, ...]:
    """Its numbers; "one" is a number only beside another."""
    return ("1",) if not one.numbers and other.numbers and not one.unsaid(_ONE) else one.numbers


def _names(mine: ParsedStatement, other: ParsedStatement) -> list[Conflict]:
    """A name must stand in the other statement in some form, capitalised or not."""
    unstated, unstated_other = mine.names.difference(other.content), other.names.difference(mine.content)
    only_a = tuple(sorted(other.unsaid(unstated))) if unstated else ()
    only_b = tuple(sorted(mine.unsaid(unstated_other))) if unstated_other else ()
    return [Conflict("name", only_a, only_b)] if only_a or only_b else []


def _opposites(mine: ParsedStatement, other: ParsedStatement) -> list[Conflict]:
    only_a, only_b = set(mine.content).difference(other.content), set(other.content).difference(mine.content)
    if not only_a or not only_b:
        return []
    pairs = [
        *_on_one_scale(only_a, only_b),
        *_prefix_opposites(only_a, only_b),
        *((a, b) for b, a in _prefix_opposites(only_b, only_a)),
    ]
    if not pairs:
        return []
    return [Conflict("opposite", tuple(sorted({a for a, _ in pairs})), tuple(sorted({b for _, b in pairs})))]


def _on_one_scale(only_a: set[str], only_b: set[str]) -> list[tuple[str, str]]:
    scales = {scale: b for b in sorted(only_b & _ON_SCALES) if (scale := OPPOSITES.get(b, b)) in SCALES}
    return [(a, scales[scale]) for a in only_a & _ON_SCALES if (scale := OPPOSITES.get(a, a)) in scales]


def _prefix_opposites(only_a: set[str], only_b: set[str]) -> list[tuple[str, str]]:
    """Words of the one that are words of the other with a prefix that turns them round: "unsafe", "non-blocking"."""
    return [
        (a, a.removeprefix(prefix))
        for a in only_a
        if a.startswith(OPPOSING_PREFIXES)
        for prefix in OPPOSING_PREFIXES
        if a.startswith(prefix) and a.removeprefix(prefix) in only_b
    ]


def _roles(mine: ParsedStatement, other: ParsedStatement) -> list[Conflict]:
    """The same words in other parts: "from staging to production", "tabs over spaces", who does what to whom."""
    if mine.bindings == other.bindings and (mine.content == other.content or _is_turned(mine, other)):
        return []
    both = set(mine.content).intersection(other.content)
    bound, bound_other = dict(sorted(mine.bindings)), dict(sorted(other.bindings))
    for binder in sorted(bound.keys() & bound_other.keys()):
        a, b = bound[binder], bound_other[binder]
        if a != b and a in both and b in both:
            return [Conflict("role", (f"{binder} {a}",), (f"{binder} {b}",))]
    firsts = [next((word for word in one.content if word in both), "") for one in (mine, other)]
    if firsts[0] != firsts[1]:
        return [Conflict("role", (firsts[0],), (firsts[1],))]
    return []


def _is_turned(mine: ParsedStatement, other: ParsedStatement) -> bool:
    """Whether a part at the end of the one ("…, before pushing") stands at the beginning of the other."""
    bound = {word for _, word in mine.bindings}
    return len(mine.content) == len(other.content) and any(
        (mine.content[at] in bound or other.content[len(mine.content) - at] in bound)
        and mine.content[at:] + mine.content[:at] == other.content
        for at in range(1, len(mine.content))
    )


def _negations(mine: ParsedStatement, other: ParsedStatement) -> list[Conflict]:
    """Another count of negations, or the same count of other words."""
    if mine.negations == other.negations:
        return []
    if len(mine.negations) != len(other.negations):
        only_a, only_b = [
            tuple(sorted(f"not {word}".strip() for word in _beyond(x.negations, y.negations)))
            for x, y in ((mine, other), (other, mine))
        ]
        return [Conflict("negation", only_a, only_b)]
    only_a, only_b = (set(x.negations) - set(y.negations) for x, y in ((mine, other), (other, mine)))
    swapped = (only_a & set(other.content)) | (only_b & set(mine.content))
    if not swapped:
        return []
    return [Conflict("role", tuple(sorted(f"not {w}" for w in only_a)), tuple(sorted(f"not {w}" for w in only_b)))]


def conflicts(mine: ParsedStatement, other: ParsedStatement) -> list[Conflict]:
    """All that keeps two statements apart, in order of kind; [] where nothing does."""
    found = _apart("number", _numbers(mine, other), _numbers(other, mine))
    found += _negations(mine, other)
    found += _apart("date", mine.dates, other.dates)
    found += _names(mine, other)
    found += _opposites(mine, other)
    found += _roles(mine, other)
    found += _apart("qualifier", mine.qualifiers, other.qualifiers)
    if mine.is_past != other.is_past:
        found.append(Conflict("tense", ("past",) * mine.is_past, ("past",) * other.is_past))
    said, said_other = ((*sorted(one.changes), *(["takes back"] if one.is_retraction else [])) for one in (mine, other))
    found += _apart("change", said, said_other)
    if mine.is_question != other.is_question:
        found.append(Conflict("question", ("?",) * mine.is_question, ("?",) * other.is_question))
    return found


def only_retracts(text: str) -> bool:
    """Whether `text` is one order to forget something ("Forget that …"), and says nothing besides.

    "Ignore the warnings" is a rule, and "no longer likes tea" a fact: they do not only retract.
    """
    return _ORDER.fullmatch(text[:READ_CHARACTERS]) is not None
