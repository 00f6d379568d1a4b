"""What states nothing by itself: a line of code or of a program's output, an intention, an example."""

from __future__ import annotations

import re

import polars as pl

_IN_CODE = r"`[^`]*`|\"[^\"]*\""
_CODE = (
    r"[{};\\]\s*$|\t|\S {4,}\S|[=!]==?[^=>]|&&|\|\||:="
    r"|^\s*(?:[$>@|]|//|\d+→|---|\+\+\+|ok\s|FAIL|PASS|import |from \S+ import"
    r"|(?:def|func|fn|class|const|let|var|return|if|for|while|else|elif|switch|case|public|private|export) "
    r"[^.]*[({:]\s*$)"
)
"""Code and output of programs: ends, signs and columns that no sentence has."""
_MEANT = re.compile(
    r"^[\W\d_]*(?:(?:ok(?:ay)?|good|great|perfect|now|next|then|first|finally|also|so|actually)[,.:!]*\s+)*"
    r"(?:let me|let['’]s|i['’]ll|i will|i['’]m going to|i am going to|i need to|we need to|need to"
    r"|you can|you could|you should|would you|do you|should (?:i|we)|if (?:you|we|i|the)|make sure"
    r"|try to|to do|todo|the user (?:wants|is asking))\b",
    re.IGNORECASE,
)
_EXAMPLE = re.compile(r"\b(?:e\.g|i\.e|for example|for instance|such as|an example|imagine|suppose)\b", re.IGNORECASE)


def states_something(text: str) -> bool:
    """As `is_plain`, of one text."""
    return re.search(_CODE, re.sub(_IN_CODE, "x", text)) is None


def is_plain() -> pl.Expr:
    """Whether content is no line of code or of what a program printed."""
    return ~pl.col("content").str.replace_all(_IN_CODE, "x").str.contains(_CODE)


def tells_nothing(text: str) -> bool:
    """Whether a text only means to do something, asks for it, or gives an example: what it says has not come about."""
    return _MEANT.match(text) is not None or _EXAMPLE.search(text) is not None
