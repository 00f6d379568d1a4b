"""Lists whose items are ticked off: "[ ] Draw the tables", later "[x] Draw the tables"."""

from __future__ import annotations

import re
from typing import NamedTuple

from slowwave.transforms.observations.states.clause_words import words_of

ITEM = r"^\W{0,3}(?:\[[ xX✓✔✅⚡~>/*-]?\]\s|✅|☑|✔|✓|⬜|☐|🔲|⏳|🔄|🚧)"
"""Without this at its beginning no statement is an item."""
_BOX = re.compile(r"^\W{0,3}\[(?P<box>[ xX✓✔✅⚡~>/*-]?)\]\s+")
_SIGN = re.compile(r"^\W{0,3}?(?P<sign>✅|☑️?|✔️?|✓|⬜|☐|🔲|⏳|🔄|🚧)\s*")
_OPEN = frozenset({"", " ", "⚡", "~", ">", "/", "*", "-", "⬜", "☐", "🔲", "⏳", "🔄", "🚧"})
_DONE_SAID = re.compile(
    r"[\s—–:-]*(?:[(\[](?:already )?(?:done|completed?|finished|implemented|fixed)\b[^)\]]{0,20}[)\]]|✅|✔️?|✓"
    r"|[—–:-]\s*(?:done|completed?|finished))[\s.!]*$",
    re.IGNORECASE,
)
_DECORATION = re.compile(r"^[^\w`'\"<@$.-]+|\*\*")


class Item(NamedTuple):
    """An item of a list: its words as they are compared, as written, and whether it is ticked off."""

    words: tuple[str, ...]
    said: str
    is_done: bool


def list_item(text: str) -> Item | None:
    """Return the item that a statement is; None: it has no mark, or no words."""
    box = _BOX.match(text)
    mark = box or _SIGN.match(text)
    if mark is None:
        return None
    body = text[mark.end() :]
    done_said = _DONE_SAID.search(body)
    if done_said is not None:
        body = body[: done_said.start()]
    body = _DECORATION.sub("", body).strip()
    words = words_of(body)
    is_done = done_said is not None or mark[1] not in _OPEN
    return Item(words, body, is_done) if words else None
