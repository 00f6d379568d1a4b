"""Marks by which a list says how far its items have come: "[ ]", "[x]", "✅", "(done)"."""

from __future__ import annotations

import re
from typing import NamedTuple

_BOX = re.compile(r"^\W{0,3}\[(?P<box>[ xX✓✔✅⚡~>/*-]?)\]\s+")
_SIGN = re.compile(r"^\W{0,3}?(?P<sign>✅|☑️?|✔️?|✓|⬜|☐|🔲|⏳|🔄|🚧)\s*")
_OPEN = frozenset({"", " ", "⚡", "~", ">", "/", "*", "-", "⬜", "☐", "🔲", "⏳", "🔄", "🚧"})
_DONE_SAID = re.compile(
    r"[\s—–:-]*(?:[(\[](?:already )?(?:done|completed?|finished|implemented|fixed)\b[^)\]]{0,20}[)\]]|✅|✔️?|✓"
    r"|[—–:-]\s*(?:done|completed?|finished))[\s.!]*$",
    re.IGNORECASE,
)
_DECORATION = re.compile(r"^[^\w`'\"<@$.-]+|\*\*")


class Marked(NamedTuple):
    """A statement without its marks.

    is_done: what they say, None: they do not. is_item: whether it stands in a list that is ticked off.
    """

    text: str
    is_done: bool | None
    is_item: bool


def find_marks(text: str) -> Marked:
    """What marks say of a statement, and the statement."""
    box = _BOX.match(text)
    sign = box or _SIGN.match(text)
    body = text[sign.end() :] if sign is not None else text
    said = _DONE_SAID.search(body)
    if said is not None:
        body = body[: said.start()]
    body = _DECORATION.sub("", body).strip()
    if sign is not None:
        mark = box["box"] if box is not None else sign["sign"]
        return Marked(body, said is not None or mark not in _OPEN, is_item=True)
    return Marked(body, True if said is not None else None, is_item=False)
