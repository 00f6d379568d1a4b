"""Two texts with what only one of them says in brackets: plain characters, which a terminal and a page show alike."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from itertools import pairwise

READ_WORDS = 200
_KEPT_BESIDE = 6  # words of a long stretch that both say, shown before and behind what differs
_ELIDED = "…"
_OUTSIDE = re.compile(r"^\W+|\W+$")


def mark_differences(one: str, other: str) -> tuple[str, str]:
    """`one` and `other` with every run of words that the other lacks in brackets: "port is [8080]".

    Words are compared without case and the punctuation around them; texts that differ in these alone have no brackets.
    A long stretch that both say is cut to what stands beside the brackets. Of a longer text the first 200 words.
    """
    left, right = one.split(), other.split()
    a, b = left[:READ_WORDS], right[:READ_WORDS]
    blocks = SequenceMatcher(None, [_bare(word) for word in a], [_bare(word) for word in b], autojunk=False)
    matching = blocks.get_matching_blocks()
    said_a = _in_brackets(a, [(block.a, block.size) for block in matching], is_cut=len(left) > READ_WORDS)
    said_b = _in_brackets(b, [(block.b, block.size) for block in matching], is_cut=len(right) > READ_WORDS)
    return said_a, said_b


def _bare(word: str) -> str:
    return _OUTSIDE.sub("", word).lower() or word


def _in_brackets(words: list[str], shared: list[tuple[int, int]], *, is_cut: bool) -> str:
    told: list[str] = []
    for (at, size), (following, _) in pairwise([(0, 0), *shared]):  # the last is empty, and stands at the end
        told += _shorten_words(words[at : at + size])
        own = words[at + size : following]
        if own:
            told.append(f"[{' '.join(own)}]")
    return " ".join([*told, _ELIDED] if is_cut else told)


def _shorten_words(words: list[str]) -> list[str]:
    """A stretch that both say, without its middle where it is long."""
    if len(words) <= 3 * _KEPT_BESIDE:
        return words
    return [*words[:_KEPT_BESIDE], _ELIDED, *words[-_KEPT_BESIDE:]]
