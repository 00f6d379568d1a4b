"""Text from logs on its way to a person: shown, never obeyed."""

from __future__ import annotations

import os
import re
import unicodedata

# Characters that reorder or hide what stands around them; harmless in content, deceptive on a screen.
_INVISIBLE = {
    *map(chr, range(0x202A, 0x202F)),
    *map(chr, range(0x2066, 0x206A)),
    "\u200e",
    "\u200f",
    "\u061c",
    "\ufeff",
}
# What makes a spreadsheet take a cell for a formula, in its full-width form too, behind whatever it passes over.
_NOT_SEEN = "\\ufeff\\u200b\\u200e\\u200f\\u2060"
_QUOTED = 200
# From how many bytes on a size is shown in a unit, of how many, and its name.
_UNITS = ((10**9, 10**9, "GB"), (10**5, 10**6, "MB"), (0, 10**3, "kB"))
_FORMULA = re.compile(rf"[\s{_NOT_SEEN}]*[=+\-@\uff1d\uff0b\uff0d\uff20]|(?:[^\S\t\r]|[{_NOT_SEEN}])*[\t\r]")


def terminal_safe(text: str) -> str:
    r"""`text` on one line with every control, surrogate and bidirectional mark written out, such as `\\x1b`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char.encode("unicode_escape").decode()
        if char in _INVISIBLE or unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"}
        else char
        for char in text
    )


def spreadsheet_safe(text: str) -> str:
    """`text` as a CSV cell that no spreadsheet takes for a formula: a `'` goes before what looks like one."""
    return "'" + text if _FORMULA.match(text) else text


def shorten_to_width(text: str, width: int) -> str:
    """`text` cut to `width` characters, with an ellipsis where it was cut."""
    return text if len(text) <= width else text[: max(0, width - 1)] + "…"


def quote_shortened(text: str) -> str:
    """A name that somebody chose, in quotes within a sentence, however long it is."""
    return repr(shorten_to_width(text, _QUOTED))


def format_count(count: int, one: str, many: str = "") -> str:
    """`1 file`, `2,000 files`; also with what they do: `1 answer repeats`, `0 answers repeat`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def size_shown(size: float) -> str:
    """`1.2 GB`, `0.1 MB`, `3.4 kB`: so many bytes."""
    unit, name = next((unit, name) for least, unit, name in _UNITS if size >= least)
    return f"{size / unit:,.1f} {name}"


def shown_name(path: str | os.PathLike[str]) -> str:
    """Return a path as text, whatever bytes it is of."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
