"""A strategy text as tokens: words, numbers, names and quoted values, and where its phrases end.

Case, punctuation at the edges of words, and the way characters are encoded make no difference. What stands in quotes or
back-ticks is kept as it is; identifiers, paths, flags, versions and everything else that is not a plain English word
are names: never inflected, never translated.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Literal, NamedTuple

from slowwave.transforms.language.lexicon import FOREIGN, JOINED_PREFIXES, NUMBER_WORDS, SHORT_FORMS, UNITS

Kind = Literal["word", "name", "number", "end", "operator"]


class StrategyToken(NamedTuple):
    """One token; an `end` closes a phrase, an `operator` is a sign between words ("a > b")."""

    kind: Kind
    text: str


END = StrategyToken("end", ",")

# Soft hyphen, zero-width space, direction marks, invisible operators, byte order mark, emoji variation: seen by nobody.
_INVISIBLE = dict.fromkeys(
    [0xAD, 0x61C, 0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2060, 0x206A), 0xFE0E, 0xFE0F, 0xFEFF]
)
_CONTROL = dict.fromkeys([*range(0x20), *range(0x7F, 0xA0)], " ") | {0x0A: " , "}  # a new line is a new step
_SAME_SIGN = (
    dict.fromkeys([0x2018, 0x2019, 0x201A, 0x2BC], "'")
    | dict.fromkeys([0x201C, 0x201D, 0x201E], '"')
    | dict.fromkeys([0x2010, 0x2011, 0x2212], "-")
    # dashes between clauses, dots, and the full-width , . ; : ! ? of Chinese and Japanese
    | dict.fromkeys([0x2014, 0xB7, 0x2026, 0x3001, 0x3002, 0xFF0C, 0xFF1B, 0xFF1A, 0xFF01, 0xFF1F], " , ")
)
# The same character in another width or as a ligature; other compatibility forms (10² is not 102) differ.
_WIDTHS = ("<wide>", "<narrow>", "<noBreak>")
_LIGATURES = range(0xFB00, 0xFB07)

_CHUNK = re.compile(r"""`[^`]*`|"[^"]*"|«[^»]*»|(?<!\S)'[^']*'(?=[\s,.;:!?)]|$)|\S+?(?=[`"«]|\s|$)""")
_WORD = re.compile(r"[a-z]+")
_WORDS = re.compile(r"[a-z]+(?:-[a-z]+)+")
_PREFIX = re.compile(rf"\b({'|'.join(sorted(JOINED_PREFIXES))})-")
_CONTRACTION = re.compile(r"([a-z]+?)(n't|'s|'re|'ll|'ve|'d|'m|')")
_OF_A_THING = ("'s", "'")
_IS_SHORT = frozenset(["it", "that", "what", "here", "there", "let", "he", "she"])
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+")
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?")
_NUMBER_UNIT = re.compile(rf"({_NUMBER.pattern})({'|'.join(sorted(UNITS, key=len, reverse=True))}|x)")
_EMPHASIS = "**"
_OPENING = "([{'\"¿¡•"
_CLOSING = ")]}'\",.;:!?"
_OPERATORS = frozenset(["<", ">", "<=", ">=", "=", "==", "!=", "+", "/", "|", "%", "~", "^"])
_ARROWS = frozenset({"->", "=>", "-->", "→", "⇒", "➜"})
_BULLETS = frozenset({"", "-", "–", "--", "*", "•", "#"})
_BRACKET_PAIRS = {("(", ")"), ("[", "]"), ('"', '"'), ("'", "'"), ("`", "`")}


def _only_looks_different(character: str) -> bool:
    return ord(character) in _LIGATURES or unicodedata.decomposition(character).startswith(_WIDTHS)


def same_signs(text: str) -> str:
    """The text with each visible character encoded in one way, and none that nobody sees."""
    if text.isascii():
        return text if text.isprintable() else text.translate(_CONTROL)
    shown = unicodedata.normalize("NFC", text).translate(_INVISIBLE).translate(_CONTROL)
    signs = shown.translate(_SAME_SIGN)
    return "".join(unicodedata.normalize("NFKC", c) if _only_looks_different(c) else c for c in signs)


def _strip_brackets(text: str) -> str:
    """Without the quotes or brackets around all of it."""
    text = text.strip().rstrip(".")
    while len(text) > 1 and (text[0], text[-1]) in _BRACKET_PAIRS and not {text[0], text[-1]} & set(text[1:-1]):
        text = text[1:-1].strip()
    return text


def _split_contraction(word: str, ending: str) -> list[StrategyToken]:
    if ending == "n't":
        return [StrategyToken("word", word), StrategyToken("word", "not")]
    if ending in _OF_A_THING and word not in _IS_SHORT:
        return [StrategyToken("word", word), StrategyToken("word", "'s")]
    return [StrategyToken("word", word)]


def _core_tokens(core: str) -> list[StrategyToken]:
    """Tokens of a chunk without the punctuation around it."""
    text = core.casefold()
    if text in SHORT_FORMS:
        return [StrategyToken("word", SHORT_FORMS[text]), StrategyToken("word", "not")]
    if _WORD.fullmatch(text):
        return [StrategyToken("number", NUMBER_WORDS[text])] if text in NUMBER_WORDS else [StrategyToken("word", text)]
    if _THOUSANDS.fullmatch(text):
        return [StrategyToken("number", text.replace(",", ""))]
    if _NUMBER.fullmatch(text):
        return [StrategyToken("number", text)]
    if match := _NUMBER_UNIT.fullmatch(text):
        unit = match[2]
        return [StrategyToken("number", match[1]), StrategyToken("word", UNITS.get(unit, unit))]
    if _WORDS.fullmatch(text):
        return [token for part in _PREFIX.sub(r"\1", text).split("-") for token in _core_tokens(part)]
    if match := _CONTRACTION.fullmatch(text):
        return _split_contraction(match[1], match[2])
    return [StrategyToken("name", text)]


@lru_cache(maxsize=16_384)
def _chunk_tokens(chunk: str) -> tuple[StrategyToken, ...]:
    if len(chunk) > 1 and chunk[0] in "`\"«'" and chunk[-1] in "`\"»'":
        return (StrategyToken("name", '"' + " ".join(chunk[1:-1].split()) + '"'),)
    if chunk in _ARROWS:
        return (StrategyToken("word", "then"),)
    if chunk in _OPERATORS:
        return (StrategyToken("operator", chunk),)
    if chunk == "&":
        return (StrategyToken("word", "and"),)
    core = chunk.removeprefix(_EMPHASIS).lstrip(_OPENING)
    opened = "(" in chunk[: len(chunk) - len(core)]
    bare = core.rstrip(_CLOSING).removesuffix(_EMPHASIS).rstrip(_CLOSING)
    closed = any(sign in core[len(bare) :] for sign in ",.;:!?)")
    found = [END] if opened else []
    if bare not in _BULLETS:
        found += _core_tokens(bare)
    return (*found, END) if closed else tuple(found)


def tokens(text: str) -> list[StrategyToken]:
    """The tokens of a text; phrase ends stand between tokens only, never twice, first or last."""
    found: list[StrategyToken] = []
    for match in _CHUNK.finditer(_strip_brackets(same_signs(text.strip()))):
        for token in _chunk_tokens(match[0]):
            if token != END or (found and found[-1] != END):
                found.append(token)
    while found and found[-1] == END:
        found.pop()
    return found


def is_english(found: list[StrategyToken]) -> bool:
    """No function word of another language, no letter English does not have."""
    return not any(
        token.text in FOREIGN or (token.kind == "name" and token.text[0] != '"' and not token.text.isascii())
        for token in found
    )
