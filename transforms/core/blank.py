r"""What says nothing: the one definition of blank, for prompts, contents, strategies, errors, ids and cells.

A text is blank when it holds nothing but Unicode white space (also no-break and ideographic), control characters (also
NUL) and format characters (zero-width, joiners, bidirectional marks, the byte order mark, tags). '' is blank.

DuckDB and Polars share `NOT_BLANK`: `\S` would not do, which is ASCII in the one and Unicode in the other. A text that
is not blank is kept as it came, invisible characters and all; a screen writes control characters out (`terminal_safe`).
A lone surrogate is no character: no UTF-8 holds one, so a row with one is refused as a line that is not JSON.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # Polars is slow to load, and who only asks what is declared needs none
    import polars as pl

# What finds a character that is not blank, in Polars and in DuckDB; audits and queries state it as it stands here.
NOT_BLANK = r"[^\p{Z}\p{Cc}\p{Cf}]"
# The same characters one by one, for what knows no classes.
_BLANK = (
    (0x0, 0x20), (0x7F, 0xA0), (0xAD, 0xAD), (0x600, 0x605), (0x61C, 0x61C), (0x6DD, 0x6DD), (0x70F, 0x70F),
    (0x890, 0x891), (0x8E2, 0x8E2), (0x1680, 0x1680), (0x180E, 0x180E), (0x2000, 0x200F), (0x2028, 0x202F),
    (0x205F, 0x2064), (0x2066, 0x206F), (0x3000, 0x3000), (0xFEFF, 0xFEFF), (0xFFF9, 0xFFFB), (0x110BD, 0x110BD),
    (0x110CD, 0x110CD), (0x13430, 0x1343F), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0001, 0xE0001),
    (0xE0020, 0xE007F),
)  # fmt: skip
_SAYS = re.compile("[^" + "".join(rf"\U{first:08x}-\U{last:08x}" for first, last in _BLANK) + "]")
# As every JSON Schema validator reads it; characters beyond 16 bits have no portable name there.
NOT_BLANK_JSON = "[^" + "".join(rf"\u{first:04x}-\u{last:04x}" for first, last in _BLANK if last <= 0xFFFF) + "]"  # noqa: PLR2004


def is_blank(text: pl.Expr) -> pl.Expr:
    """Whether a text says nothing; NULL says nothing."""
    return text.is_null() | ~text.str.contains(NOT_BLANK)


def says_nothing(text: str) -> bool:
    """`is_blank` of one text."""
    return _SAYS.search(text) is None
