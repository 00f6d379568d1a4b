"""A statement as tokens: numbers as digits, hyphenated words apart, identifiers and paths whole."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from slowwave.transforms.language.inflection import inflection
from slowwave.transforms.language.lexicon import NUMBER_WORDS, SYNONYMS, UNITS
from slowwave.transforms.observations.pairs.pair_words import MULTIPLES

READ_CHARACTERS = 2_000
_TOKENS = re.compile(r"(\d{4}-\d\d-\d\d|\d{1,3}(?:,\d{3})+(?:\.\d+)?[\w%]*|[\w~./\\@#][\w./\\:@#~+%'’-]*|[$€£%])")
_NUMBER = re.compile(r"v?(\d+(?:[.,:_]\d+)*)(k|%|[a-z]{1,12})?")
_ISO_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_IDENTIFIER = re.compile(r"[_./\\:@#~+]|\d|[a-z][A-Z]")
_SYMBOL = re.compile(r"[$€£%]")
_SENTENCE_ENDS = re.compile(r"[.!?:\n]")
_OWNED = re.compile(r"['’]s$")
_THOUSANDS = re.compile(r"[,_](?=\d{3})")
_NUMBERS_IN_WORDS = frozenset((*NUMBER_WORDS, *MULTIPLES))
_DIGITS_READ = 12
# what spelling alone would keep apart from its other forms
_ALSO = {"life": "live", "requir": "require", "favourit": "favorite", "favourite": "favorite"}


class StatementToken(NamedTuple):
    """A word as written, whether it is capitalised, and whether it begins a sentence."""

    text: str
    is_capitalised: bool
    starts: bool


@lru_cache(maxsize=200_000)
def base_of(word: str) -> str:
    """The uninflected form of a lower-case word, or the one that stands for its synonyms."""
    base = inflection(word).base if word.isalpha() else word
    return _ALSO.get(base) or SYNONYMS.get(base, base)


@lru_cache(maxsize=200_000)
def number(word: str) -> tuple[str, str] | None:
    """The number a lower-case token is, and the unit glued to it ('': none); None: it is no number."""
    match = _NUMBER.fullmatch(word)
    if match is None:
        return None
    digits, unit = _THOUSANDS.sub("", match.group(1)), match.group(2) or ""
    if unit == "k":
        return f"{digits}000", ""
    if unit in {"st", "nd", "rd", "th"}:
        return f"{digits}.", ""
    return digits, UNITS.get(unit, unit)


def is_iso_day(word: str) -> bool:
    """Whether it is a date like 2026-03-01."""
    return _ISO_DAY.fullmatch(word) is not None


@lru_cache(maxsize=200_000)
def is_identifier(text: str) -> bool:
    """Whether it is a path, a version, a name in code or another name with digits or capitals inside."""
    return _IDENTIFIER.search(text) is not None and not _SYMBOL.fullmatch(text)


def tokens(text: str) -> list[StatementToken]:
    """The tokens of the first 2,000 characters, in order."""
    found: list[StatementToken] = []
    starts = True
    has_number_words = False
    pieces = _TOKENS.split(text[:READ_CHARACTERS])  # what stands between tokens, and the tokens, by turns
    for between, (starting, inside, ends_sentence, has_number_word) in zip(
        pieces[::2], map(_parts, pieces[1::2]), strict=False
    ):
        if not starts and between != " ":
            starts = _SENTENCE_ENDS.search(between) is not None
        if has_number_word:
            has_number_words = True
        if starts:
            found += starting
            starts = ends_sentence or not inside
        else:
            found += inside
            starts = ends_sentence
    return _in_digits(found) if has_number_words else found


class _Parts(NamedTuple):
    """The words of a raw token at the start of a sentence and inside one; and what its closing punctuation tells."""

    starting: tuple[StatementToken, ...]
    inside: tuple[StatementToken, ...]
    ends_sentence: bool
    has_number_word: bool


@lru_cache(maxsize=200_000)
def _parts(raw: str) -> _Parts:
    word = raw[:-1] if raw[-1] in ".,:;" else raw
    if word.isalpha():  # as most are, and all below leaves it as it is
        is_capitalised = word[0].isupper()
        first, token = StatementToken(word, is_capitalised, True), StatementToken(word, is_capitalised, False)
        return _Parts((first,), (token,), raw[-1] in ".:", word.lower() in _NUMBERS_IN_WORDS)
    closing = raw[len(raw.rstrip(".,:;'’-!?+")) :]
    bare = _OWNED.sub("", raw.strip("'’-:;").rstrip(".,+").lstrip("#") or raw)
    words = (bare,)
    if "-" in bare and not is_identifier(bare.replace("-", "")):
        words = tuple(word for word in bare.split("-") if word)
    inside = tuple([StatementToken(word, word[:1].isupper(), starts=False) for word in words])
    first = tuple([StatementToken(word, word[:1].isupper(), starts=True) for word in words[:1]])
    return _Parts(
        starting=first + inside[1:],
        inside=inside,
        ends_sentence=bool(closing) and _SENTENCE_ENDS.search(closing) is not None,
        has_number_word=not _NUMBERS_IN_WORDS.isdisjoint([word.lower() for word in words]),
    )


def _in_digits(found: list[StatementToken]) -> list[StatementToken]:
    """Numbers in words as digits: "twenty five", "two hundred"; "one" alone is hardly ever a number."""
    out: list[StatementToken] = []
    total, is_open = 0, False
    for token in found:
        word = token.text.lower()
        value = NUMBER_WORDS.get(word) if word not in MULTIPLES and (word != "one" or is_open) else None
        if word in MULTIPLES:
            if not is_open:
                has_digits = bool(out) and out[-1].text.isdecimal() and len(out[-1].text) <= _DIGITS_READ
                total = int(out.pop().text) if has_digits else 1
            else:
                out.pop()
            total, is_open = total * int(MULTIPLES[word]), True
            out.append(token._replace(text=str(total)))
        elif value is None:
            is_open = False
            out.append(token)
        elif is_open and int(value) < total and total % 10 == 0:
            total += int(value)
            out[-1] = token._replace(text=str(total))
        else:
            total, is_open = int(value), True
            out.append(token._replace(text=value))
    return out
