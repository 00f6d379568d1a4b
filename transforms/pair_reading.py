"""What a statement says, as far as words tell: its content words in order, and all that may keep it from another."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from slowwave.transforms.pair_words import (
    BINDERS,
    CHANGES,
    MONTHS,
    MULTIPLES,
    NEGATIONS,
    ONLY_CAPITALISED,
    ORDINALS,
    QUALIFIERS,
    RELATIVE_DAYS,
    RETRACTIONS,
    SILENT,
    UNSTRESSED,
    WEEKDAYS,
)
from slowwave.transforms.strategy_inflections import inflection
from slowwave.transforms.strategy_words import NUMBER_WORDS, SYNONYMS, UNITS

_READ_CHARACTERS = 2_000
_TOKEN = re.compile(r"\d{4}-\d\d-\d\d|[\w~./\\@#][\w./\\:@#~+%'’-]*|[$€£%]")
_NUMBER = re.compile(r"v?(\d+(?:[.,:_]\d+)*)(k|%|[a-z]{1,12})?")
_ISO_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_IDENTIFIER = re.compile(r"[_./\\:@#~+]|\d|[a-z][A-Z]")
_NOT = re.compile(r"n['’]t$")
_SENTENCE_END = (".", "!", "?", ":", "\n")
_TITLE_WORDS = 4
_TITLE_SHARE = 0.6
# spelt alike or not at all the same, but of one word
_ALSO = {"life": "live", "requir": "require", "favourit": "favorite", "favourite": "favorite"}
_USED_TO = re.compile(r"(?<!\bis )(?<!\bare )(?<!\bwas )(?<!\bwere )(?<!\bbe )(?<!\bget )(?<!\bbeing )\bused to\b")


class Reading(NamedTuple):
    """A statement taken apart; lists are sorted unless said otherwise.

    content: uninflected content words, identifiers and numbers, in order. words: every word, for names to be found in.
    numbers: digits and words alike, with their unit where it follows. negations: what each negation precedes.
    dates, names (capitalised within a sentence, identifiers, paths), qualifiers. bindings: (preposition, what follows).
    is_past: told of as over. changes: words of change. is_retraction: takes something back. is_question: ends in a question mark.
    """

    content: tuple[str, ...]
    words: frozenset[str]
    numbers: tuple[str, ...]
    negations: tuple[str, ...]
    dates: tuple[str, ...]
    names: frozenset[str]
    qualifiers: tuple[str, ...]
    bindings: frozenset[tuple[str, str]]
    is_past: bool
    changes: frozenset[str]
    is_retraction: bool
    is_question: bool


class _Token(NamedTuple):
    text: str
    is_capitalised: bool
    starts: bool


@lru_cache(maxsize=200_000)
def base_of(word: str) -> str:
    """The uninflected form of a lower-case word, or the one that stands for its synonyms."""
    base = inflection(word).base if word.isalpha() else word
    return _ALSO.get(base) or SYNONYMS.get(base, base)


def _tokens(text: str) -> list[_Token]:
    found = []
    end = 0
    starts = True
    for match in _TOKEN.finditer(text[:_READ_CHARACTERS]):
        between = text[end : match.start()]
        raw = match.group()
        starts = starts or any(mark in between for mark in _SENTENCE_END)
        end = match.start() + len(raw.rstrip(".,:;'’-!?+"))
        bare = raw.strip("'’-:;").rstrip(".,+").lstrip("#") or raw
        for part in _parts(bare):
            found.append(_Token(part, part[:1].isupper(), starts))
            starts = False
    return found


def _parts(token: str) -> list[str]:
    """A hyphenated word is its words; identifiers and paths stay whole."""
    token = re.sub(r"['’]s$", "", token)
    if "-" in token and not _IDENTIFIER.search(token.replace("-", "")):
        return [part for part in token.split("-") if part]
    return [token]


def _number(token: str) -> tuple[str, str] | None:
    """The number a token is, and its unit; None: it is none."""
    match = _NUMBER.fullmatch(token.lower())
    if match is None:
        return None
    digits, unit = match.group(1), match.group(2) or ""
    digits = re.sub(r"[,_](?=\d{3})", "", digits)
    if unit == "k":
        return f"{digits}000", ""
    if unit in {"st", "nd", "rd", "th"}:
        return f"{digits}.", ""
    return digits, UNITS.get(unit, unit)


def _spelled(tokens: list[_Token]) -> list[_Token]:
    """Numbers in words as digits: "twenty five", "two hundred"."""
    out: list[_Token] = []
    sum_, open_ = 0, False
    for token in tokens:
        word = token.text.lower()
        value = NUMBER_WORDS.get(word) if word not in MULTIPLES and (word != "one" or open_) else None
        if word in MULTIPLES:
            factor = int(MULTIPLES[word])
            if open_:
                sum_ *= factor
                out[-1] = token._replace(text=str(sum_))
                continue
            if out and out[-1].text.isdigit():
                sum_, open_ = int(out[-1].text[:12]) * factor, True
                out[-1] = token._replace(text=str(sum_))
                continue
            value = str(factor)
        if value is None:
            open_ = False
            out.append(token)
        elif open_ and int(value) < sum_ and sum_ % 10 == 0:
            sum_ += int(value)
            out[-1] = token._replace(text=str(sum_))
        else:
            sum_, open_ = int(value), True
            out.append(token._replace(text=value))
    return out


@lru_cache(maxsize=200_000)
def reading(text: str) -> Reading:
    """What `text` says; of a long one its first 2,000 characters."""
    tokens = _spelled(_tokens(text))
    lower = text[:_READ_CHARACTERS].lower()
    long_words = [token for token in tokens if len(token.text) > len("with")]
    is_title = (
        len(long_words) >= _TITLE_WORDS
        and sum(token.is_capitalised for token in long_words) > _TITLE_SHARE * len(long_words)
    )  # fmt: skip
    content: list[str] = []
    numbers, negations, dates, qualifiers = [], [], [], []
    names: set[str] = set()
    words: set[str] = set()
    bindings: set[tuple[str, str]] = set()
    changes: set[str] = set()
    open_negations, binder, is_past, is_after_be = 0, "", False, False
    if _USED_TO.search(lower):
        changes.add("used to")
    if "no longer" in lower:
        changes.add("no longer")

    def stated(word: str) -> None:
        nonlocal binder
        content.append(word)
        if binder:
            bindings.add((binder, word))
            binder = ""

    for place, token in enumerate(tokens):
        word = token.text.lower()
        if open_negations and word not in UNSTRESSED and word not in NEGATIONS:
            negations.extend([base_of(word)] * open_negations)
            open_negations = 0
        number = _number(word)
        if _ISO_DAY.fullmatch(word):
            dates.append(word)
            stated(word)
            continue
        if number is not None:
            digits, unit = number
            after = tokens[place + 1].text.lower() if place + 1 < len(tokens) else ""
            unit = unit or UNITS.get(after, "%" if after in {"%", "percent"} else "")
            numbers.append(f"{digits} {unit}".strip())
            stated(digits)
            if number[1]:
                stated(number[1])
            continue
        if _IDENTIFIER.search(token.text) and not re.fullmatch(r"[$€£%]", word):
            names.add(word)
            words.add(word)
            stated(word)
            continue
        if _NOT.search(word):
            open_negations += 1
            is_past = is_past or word.startswith(("did", "was", "were", "had"))
            continue
        base = base_of(word)
        words |= {word, base}
        if word in {"was", "were", "had", "did"}:
            is_past = True
        if word in ORDINALS and not (word == "second" and numbers):
            numbers.append(ORDINALS[word])
            stated(ORDINALS[word])
            continue
        if word in NEGATIONS or base in NEGATIONS:
            if word == "no" and place + 1 < len(tokens) and tokens[place + 1].text.lower() == "longer":
                tokens[place + 1] = tokens[place + 1]._replace(text="the")
            open_negations += 1
            continue
        is_calendar = token.is_capitalised or word not in ONLY_CAPITALISED
        day = WEEKDAYS.get(base) or WEEKDAYS.get(word) or MONTHS.get(word)
        if day and is_calendar and not (word == "may" and token.starts):
            dates.append(day)
            stated(day)
            continue
        if base in RELATIVE_DAYS:
            dates.append(base)
        if base in CHANGES:
            changes.add(base)
            continue
        if word in BINDERS:
            binder = word
        said = QUALIFIERS.get(word)
        if said is not None:
            qualifiers.append(said)
            continue
        if word == "used" and "used to" in changes:
            continue
        if base in SILENT or word in SILENT:
            is_after_be = base == "be" or word in {"is", "are", "been", "being", "was", "were", "has", "have"}
            continue
        if token.is_capitalised and not token.starts and not is_title:
            names.add(base)
        is_past = is_past or (inflection(word).form == "past" and inflection(word).base != word and not is_after_be)
        is_after_be = False
        stated(base)
    if open_negations:
        negations.extend([""] * open_negations)
    return Reading(
        tuple(content),
        frozenset(words),
        tuple(sorted(numbers)),
        tuple(sorted(negations)),
        tuple(sorted(dates)),
        frozenset(names),
        tuple(sorted(qualifiers)),
        frozenset(bindings),
        is_past,
        frozenset(changes),
        any(phrase in lower for phrase in RETRACTIONS),
        text.rstrip().endswith("?"),
    )
