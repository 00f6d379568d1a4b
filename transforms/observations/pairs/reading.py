"""What a statement says, as far as words tell: its content words in order, and all that may keep it from another."""

from __future__ import annotations

import re
from functools import lru_cache
from operator import itemgetter
from typing import Any, Literal, NamedTuple

from slowwave.transforms.language.inflection import inflection
from slowwave.transforms.language.lexicon import UNITS
from slowwave.transforms.observations.pairs.statement_tokens import (
    BINDERS,
    MONTHS,
    NEGATIONS,
    ONLY_CAPITALISED,
    ORDINALS,
    PAST_AUXILIARIES,
    PAST_FORMS,
    QUALIFIERS,
    READ_CHARACTERS,
    RELATIVE_DAYS,
    RETRACTIONS,
    SILENT,
    STANDING,
    UNSTRESSED,
    WEEKDAYS,
    StatementToken,
    base_of,
    is_identifier,
    is_iso_day,
    number,
    tokens,
)

_TEXT = itemgetter(0)
_NONE = frozenset[Any]()  # one for all: an empty set takes 200 bytes, and a hundred thousand texts have several
_NOT = re.compile(r"n['’]t$")
_BE_OR_HAVE = frozenset({"is", "are", "been", "being", "was", "were", "has", "have", "be", "am"})
_COPULAS = frozenset({"is", "are", "was", "were"})
_CHANGE = re.compile(
    r"\b(?:now|nowadays|currently|anymore|any more|no longer|formerly|previously|instead of)\b"
    r"|(?<!\bis )(?<!\bare )(?<!\bwas )(?<!\bwere )(?<!\bbe )(?<!\bget )(?<!\bbeing )\bused to\b"
    r"|\b(?:switch|mov|migrat|chang|transition|upgrad|downgrad|convert|relocat|renam)\w*"
    r"(?=(?:\s+[^\s,.;]+){0,3}?\s+(?:from|to)\b)"
    r"|\breplac\w*"
)
# Without one of these there is no phrase of change, and looking for it takes longer than all else.
_CHANGE_HINTS = (
    *("now", "currently", "any", "longer", "formerly", "previously", "instead", "used", "switch", "mov", "migrat"),
    *("chang", "transition", "grad", "convert", "relocat", "renam", "replac"),
)
_FORMER = re.compile(
    r"(?:\bused to|\bno longer|\bfrom|\binstead of|\breplac(?:es?|ed|ing)|\bstop(?:s|ped)?|\bnot|n['’]t)\s+"
    r"(?!by\b)(.*?)(?=[,.;:!?]|\b(?:but|and|now|to|with|for|by|when|any\s?more)\b|$)"
    r"|(\S+) (?:was|were|is|are|has been|have been) replaced"
)


class ParsedStatement(NamedTuple):
    """A statement taken apart; tuples are sorted, except `content`.

    seen: every word; kept as these, which texts share, readings take a third of the memory of what they tell in sets.
    content: uninflected content words, identifiers and numbers, in order. written: each as it stands in the text.
    numbers: digits and words alike, with their unit where it follows. negations: what each negation precedes.
    dates, names (capitalised within a sentence, identifiers, paths), qualifiers. bindings: (preposition, what follows).
    is_past: told of as over. changes: phrases of change; former: content words of what it says is over.
    is_retraction: takes something back. is_question: ends in a question mark. subject_words: content words before the
    first is or are; -1: there is none. is_standing: has a word of a standing rule, such as "always".
    """

    seen: tuple[_Word, ...]
    content: tuple[str, ...]
    written: tuple[str, ...]
    numbers: tuple[str, ...]
    negations: tuple[str, ...]
    dates: tuple[str, ...]
    names: frozenset[str]
    qualifiers: tuple[str, ...]
    bindings: frozenset[tuple[str, str]]
    is_past: bool
    changes: frozenset[str]
    former: frozenset[str]
    is_retraction: bool
    is_question: bool
    subject_words: int
    is_standing: bool

    def unsaid(self, words: frozenset[str]) -> frozenset[str]:
        """Those of `words` that do not stand in it, neither as they are nor as the uninflected form of what does."""
        # of most texts none is left to look at closer
        near = [word for word in self.seen if word[1] in words or word[2] in words]
        spoken = [word for word in near if word.sort in _SPOKEN]
        return words.difference(
            [word.lower for word in spoken], [word.base for word in spoken if word.sort != "identifier"]
        )

    def as_written(self, value: str) -> str:
        """A value of another field ("30 second", "from stage") in the statement's own words."""
        parts = value.split()
        if len(parts) == 1:
            return self.written[self.content.index(parts[0])] if parts[0] in self.content else parts[0]
        if len(parts) == 2:  # noqa: PLR2004 - a number and its unit, in one word
            for place, both in enumerate(zip(self.content, self.content[1:], strict=False)):
                if [*both] == parts and self.written[place] == self.written[place + 1]:
                    return self.written[place]
        places = (self.content.index(part) if part in self.content else -1 for part in parts)
        return " ".join(self.written[place] if place >= 0 else part for part, place in zip(parts, places, strict=True))


@lru_cache(maxsize=100_000)
def reading(text: str) -> ParsedStatement:
    """What `text` says; of a long one its first 2,000 characters."""
    return _Reader(text).read()


def forget_readings() -> None:
    """Give back the memory of what was read: nothing else of a night asks for it."""
    reading.cache_clear()


def is_retraction(text: str) -> bool:
    """Whether it takes something back, as far as phrases tell; of a long text its first 2,000 characters."""
    return _has_any(text[:READ_CHARACTERS].lower(), RETRACTIONS)


def _has_any(text: str, phrases: tuple[str, ...]) -> bool:
    for phrase in phrases:  # noqa: SIM110 - any() takes twice as long, and every text is asked
        if phrase in text:
            return True
    return False


Sort = Literal["day", "number", "identifier", "contraction", "content", "silent", "word"]


_SPOKEN = frozenset[Sort]({"content", "silent", "word", "identifier"})


class _Word(NamedTuple):
    """All that a token tells whatever stands beside it; a text has few distinct ones, and is read by looking them up.

    sort: `content` is a word that says something and no more, `silent` one that says nothing; others are a `word`.
    """

    text: str
    lower: str
    base: str
    sort: Sort
    takes_negation: bool
    number: tuple[str, str]
    is_past: bool
    is_standing: bool = False


@lru_cache(maxsize=200_000)
def _word(text: str) -> _Word:
    lower = text.lower()
    base = base_of(lower)
    takes = lower not in UNSTRESSED and lower not in NEGATIONS
    if not text.isalpha() or (
        text != lower and text[1:] != lower[1:]
    ):  # most are letters, and no more is asked of them
        if is_iso_day(lower):
            return _Word(text, lower, base, "day", takes, ("", ""), is_past=False)
        found = number(lower)
        if found is not None:
            return _Word(text, lower, base, "number", takes, found, is_past=False)
        if is_identifier(text):
            return _Word(text, lower, base, "identifier", takes, ("", ""), is_past=False, is_standing=lower in STANDING)
        if _NOT.search(lower):
            return _Word(
                text, lower, base, "contraction", takes, ("", ""), lower.startswith(("did", "was", "were", "had"))
            )
    form = inflection(lower)
    is_past = lower in PAST_FORMS or (form.form == "past" and form.base != lower)
    sort: Sort = "silent" if lower in SILENT or base in SILENT else "content"
    if lower in _DEPENDING or base in _DEPENDING:
        sort = "word"
    return _Word(text, lower, base, sort, takes, ("", ""), is_past, lower in STANDING or base in STANDING)


_OF_CHANGE = frozenset({"longer", "used", "now", "currently", "anymore", "formerly", "previously"})
# What a word of one of these means depends on what stands beside it.
_DEPENDING = _OF_CHANGE.union(
    *(UNITS, ORDINALS, WEEKDAYS, MONTHS, NEGATIONS, RELATIVE_DAYS, BINDERS, QUALIFIERS),
    *(_BE_OR_HAVE, _COPULAS, PAST_AUXILIARIES),
)


class _Reader:
    """Reads one statement, token by token."""

    def __init__(self, text: str) -> None:
        self._text = text[:READ_CHARACTERS]
        self._tokens = tokens(text)
        self._seen: list[_Word] = []
        self._content: list[str] = []
        self._written: list[str] = []
        self._numbers: list[str] = []
        self._negations: list[str] = []
        self._dates: list[str] = []
        self._names: set[str] = set()
        self._qualifiers: list[str] = []
        self._bindings: set[tuple[str, str]] = set()
        self._is_past = self._is_after_be = self._is_after_number = self._is_standing = False
        self._open_negations, self._subject_words = 0, -1
        self._binder = self._token = ""

    def read(self) -> ParsedStatement:
        lower = self._text.lower()
        is_hinted = _has_any(lower, _CHANGE_HINTS)
        changes = {match.group() for match in _CHANGE.finditer(lower)} if is_hinted else set()
        self._skipped = _OF_CHANGE if changes else frozenset()
        self._read_tokens()
        self._negations.extend([""] * self._open_negations)
        return ParsedStatement(
            tuple(self._seen),
            tuple(self._content),
            tuple(self._written),
            tuple(sorted(self._numbers)),
            tuple(sorted(self._negations)),
            tuple(sorted(self._dates)),
            frozenset(self._names) if self._names else _NONE,
            tuple(sorted(self._qualifiers)),
            frozenset(self._bindings) if self._bindings else _NONE,
            self._is_past,
            frozenset(changes) if changes else _NONE,
            self._former(lower) if changes else _NONE,
            _has_any(lower, RETRACTIONS),
            self._text.rstrip().endswith("?"),
            self._subject_words,
            self._is_standing,
        )

    def _former(self, lower: str) -> frozenset[str]:
        spans = [span for match in _FORMER.finditer(lower) for span in match.groups() if span]
        stated = set(self._content)
        return frozenset(base for span in spans for token in tokens(span) if (base := base_of(token.text)) in stated)

    def _state(self, word: str) -> None:
        self._content.append(word)
        self._written.append(self._token)
        if self._binder:
            self._bindings.add((self._binder, word))
            self._binder = ""

    def _read_tokens(self) -> None:
        # words that stand for themselves alone are most of every text: they are read without a call
        content, written = self._content.append, self._written.append
        self._seen = [*map(_word, map(_TEXT, self._tokens))]
        is_awaited = False  # whether what stands before changes what a word means
        for place, ((_, is_capitalised, starts), seen) in enumerate(zip(self._tokens, self._seen, strict=True)):
            text, lower, base, sort, takes_negation, _, is_past, is_standing = seen
            if is_standing:
                self._is_standing = True
            if self._open_negations and takes_negation and lower not in self._skipped:
                self._negations.extend([base] * self._open_negations)
                self._open_negations = 0
            if sort == "content":
                content(base)
                written(text)
                if is_capitalised and not starts:
                    self._names.add(base)
                if is_past and not self._is_after_be:
                    self._is_past = True
                if is_awaited:
                    if self._binder:
                        self._bindings.add((self._binder, base))
                        self._binder = ""
                    is_awaited = self._is_after_number = self._is_after_be = False
            elif sort == "silent":
                self._is_after_number = self._is_after_be = False
            else:
                self._token = text
                self._read_other(self._tokens[place], seen, place)
                is_awaited = True

    def _read_other(self, token: StatementToken, seen: _Word, place: int) -> None:
        _, lower, base, sort, _, found, is_past, _ = seen
        if sort == "word":
            self._read_word(token, lower, base, is_past=is_past)
        elif sort == "day":
            self._dates.append(lower)
            self._state(lower)
        elif sort == "number":
            after = self._tokens[place + 1].text.lower() if place + 1 < len(self._tokens) else ""
            self._read_number(found, after)
        elif sort == "identifier":
            self._names.add(lower)
            self._state(lower)
        else:
            self._open_negations += 1
            self._is_past = self._is_past or is_past

    def _read_number(self, found: tuple[str, str], after: str) -> None:
        digits, glued = found
        self._is_after_number = not glued
        unit = glued or UNITS.get(after, "%" if after in {"%", "percent"} else "")
        self._numbers.append(f"{digits} {unit}".strip())
        self._state(digits)
        if glued:
            self._state(glued)

    def _read_word(self, token: StatementToken, word: str, base: str, *, is_past: bool) -> None:
        if self._is_value(token, word, base) or word in self._skipped:
            return
        if word in NEGATIONS or base in NEGATIONS:
            self._open_negations += 1
            return
        if base in RELATIVE_DAYS:
            self._dates.append(base)
        if word in BINDERS:
            self._binder = word
        if word in QUALIFIERS:
            self._qualifiers.append(QUALIFIERS[word])
        elif base in SILENT or word in SILENT:
            if word in _COPULAS and self._subject_words < 0:
                self._subject_words = len(self._content)
            self._is_past = self._is_past or word in PAST_AUXILIARIES
            self._is_after_be = word in _BE_OR_HAVE
        else:
            if token.is_capitalised and not token.starts:
                self._names.add(base)
            self._read_content(base, is_past=is_past)

    def _is_value(self, token: StatementToken, word: str, base: str) -> bool:
        """Whether a word is a unit, an ordinal, a day or a month; then it is stated."""
        is_after_number, self._is_after_number = self._is_after_number, False
        day = WEEKDAYS.get(base) or WEEKDAYS.get(word) or MONTHS.get(word)
        if is_after_number and word in UNITS:
            self._state(UNITS[word])
        elif word in ORDINALS and not (word == "second" and self._numbers):
            self._numbers.append(ORDINALS[word])
            self._state(ORDINALS[word])
        elif day and (token.is_capitalised or word not in ONLY_CAPITALISED) and not (word == "may" and token.starts):
            self._dates.append(day)
            self._state(day)
        else:
            return False
        return True

    def _read_content(self, base: str, *, is_past: bool) -> None:
        self._is_past = self._is_past or (is_past and not self._is_after_be)
        self._is_after_be = False
        self._state(base)
