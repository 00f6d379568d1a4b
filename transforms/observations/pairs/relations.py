"""The relations of many pairs of statements at once."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from slowwave.transforms.core.arrays import Integers
from slowwave.transforms.observations.pairs.candidates import RELATED_LIKENESS
from slowwave.transforms.observations.pairs.reading import ParsedStatement, reading
from slowwave.transforms.observations.pairs.relation import NOTHING, Relation, relation
from slowwave.transforms.observations.pairs.scores import pair_features, similarity
from slowwave.transforms.observations.pairs.texts import UNIT, PairTexts
from slowwave.transforms.observations.params import ObservationParams

# A statement in plain wording: what must be done is done, contractions are written out, lists are in one order.
# So that "has to be run", "must be run" and "is run" are one statement. Numbers, negations and names stay as they are.

# What one has to do. "will" tells of a later time, "can" of what is left open: both say something else.
_DUTY = r"(?:must|shall|should|ought to|(?:has|have) (?:got )?to|needs? to|(?:is|are) (?:required|obliged|supposed) to)"
_LEAVE = r"(?:(?:is|are) (?:able|allowed|permitted) to)"
_REWRITTEN: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), plain)
    for pattern, plain in (
        (r"\b(ca)n['’]t\b", "cannot"),
        (r"\bwon['’]t\b", "will not"),
        (r"\bshan['’]t\b", "shall not"),
        (r"(?<=[a-z])n['’]t\b", " not"),
        (r"(?<=[a-z])['’]re\b", " are"),
        (r"(?<=[a-z])['’]ve\b", " have"),
        (r"(?<=[a-z])['’]ll\b", " will"),
        (r"\b(I)['’]m\b", r"\1 am"),
        (r"\b(it|that|there|here|he|she|what|who)['’]s\b(?! (?:been|got|had)\b)", r"\1 is"),
        (r"\bcan not\b", "cannot"),
        (rf"\b{_DUTY} be\b", "is"),
        (rf"\b{_DUTY} (not|never|always|only) be\b", r"is \1"),
        (r"\b(?:do|does) not (?:have|need) to\b", "need not"),
        (rf"\b(?<!not ){_DUTY} (?=\S)", ""),
        (rf"\b{_LEAVE} ", "can "),
    )
)
_HINTS = re.compile(r"['’]|must|sha|should|ought| to |can not", re.IGNORECASE)
_WHERE = re.compile(r"([^.!;]+?) is where ([^.!;]+)")
_ITEM = r"[\w./+#-]*\w"
_LIST = re.compile(rf"\b{_ITEM}(?:, {_ITEM})+,? (?:and|or) {_ITEM}\b")


def is_one_wording(one: str, other: str) -> bool:
    """Whether two statements are one, in plain wording, but for case and stops at their ends."""
    return plain_wording(one).casefold().strip(" .!;,") == plain_wording(other).casefold().strip(" .!;,")


def plain_reading(text: str) -> ParsedStatement:
    """Return the statement as it is compared: read in plain wording."""
    return reading(plain_wording(text))


@lru_cache(maxsize=100_000)
def plain_wording(text: str) -> str:
    """Return the statement in plain wording; of most, as it is."""
    if _HINTS.search(text):
        for pattern, plain in _REWRITTEN:
            text = pattern.sub(plain, text)
    if " is where " in text:
        text = _WHERE.sub(r"\2 on \1", text)
    return _LIST.sub(_in_order, text) if ", " in text else text


def _in_order(found: re.Match[str]) -> str:
    """A list of single words with its items sorted; where one begins the sentence it may be what is done first."""
    if found.start() == 0:
        return found[0]
    joint = " or " if re.search(r"\bor\b", found[0].rpartition(",")[2]) else " and "
    items = re.split(r", | and | or ", found[0].replace(", and ", ", ").replace(", or ", ", "))
    items.sort(key=str.lower)
    return ", ".join(items[:-1]) + joint + items[-1]


_ONE = 10_000
_SCORED_LIKENESS = UNIT * UNIT // 2  # vectors less alike than this: no fitted score would call the texts one fact


class TextPairs(NamedTuple):
    """Pairs of texts, by number: the one said earlier, the later one, and whether it was really said later."""

    earlier: Integers
    later: Integers
    is_later: np.ndarray[Any, np.dtype[np.bool_]]


def pair_similarity(texts: PairTexts, left: Integers, right: Integers, likeness: Integers) -> Integers:
    """How alike the texts of each pair are, in 1/10,000; 0 where their vectors tell that they are not."""
    out = np.zeros(len(left), np.int64)
    scored = likeness >= _SCORED_LIKENESS
    if scored.any():
        out[scored] = similarity(pair_features(texts, left[scored], right[scored]))
    return out


def pair_relations(
    contents: pl.Series,
    pairs: TextPairs,
    likeness: Integers,
    alike: Integers,
    params: ObservationParams,
) -> list[Relation]:
    """The relation of each pair of texts, given by number in `contents`; see `relation`."""
    found = [NOTHING] * len(alike)
    known: dict[tuple[int, int, bool], Relation] = {}
    related = np.flatnonzero(likeness >= RELATED_LIKENESS)
    spoken_of = np.unique(np.concatenate([pairs.earlier[related], pairs.later[related]]))
    said = dict(zip(spoken_of.tolist(), contents.gather(spoken_of).to_list(), strict=True))
    keys = zip(*(of[related].tolist() for of in pairs), strict=True)
    for at, key, score in zip(related.tolist(), keys, alike[related].tolist(), strict=True):
        if key not in known:
            one, other = said[key[0]], said[key[1]]
            likest = _ONE if is_one_wording(one, other) else score
            known[key] = relation(plain_reading(one), plain_reading(other), likest, params, is_later=key[2])
        found[at] = known[key]
    return found
