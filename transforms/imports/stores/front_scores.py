"""Scores in the front matter of a memory file: one line, `slowwave: confidence 0.72; verdict keep`.

It stands below `metadata:` where the file has that, else by itself; all else in the file stays byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from slowwave.transforms.imports.stores.markdown import front_matter

KEY = "slowwave"
_FRONT = re.compile(r"(\ufeff?---[ \t]*\r?\n)(.*?)((?:^|\n)---[ \t]*(?:\r?\n|\Z))", re.DOTALL)
_LINE = re.compile(rf"(?m)^[ \t]*{KEY}:[ \t]*(?P<said>[^\r\n]*)\r?\n?")
_METADATA = re.compile(r"(?m)^metadata:[ \t]*(?P<end>\r?\n)(?P<indent>[ \t]+)(?=\S)")


class UnchangeableError(Exception):
    """The front matter is in a form into which nothing is written; the message says which."""


def scores_text(scores: Mapping[str, Any]) -> str:
    """Scores as one line for people: `confidence 0.72; verdict keep`."""
    return "; ".join(f"{name} {value}" for name, value in sorted(scores.items()))


def scores_said(text: str) -> dict[str, Any] | None:
    """The scores that such a line states; None for another."""
    said: dict[str, Any] = {}
    for part in text.split("; "):
        name, _, value = part.partition(" ")
        if name == "verdict" and value:
            said[name] = value
        elif name == "confidence" and re.fullmatch(r"[01](\.\d+)?", value):
            said[name] = float(value)
        else:
            return None
    return said


def without_scores(stated: Mapping[str, Any]) -> dict[str, Any]:
    """What a front matter states but for the scores."""
    kept = _without(stated)
    if isinstance(metadata := kept.get("metadata"), Mapping):
        kept["metadata"] = _without(metadata)
    return kept


def _without(stated: Mapping[str, Any]) -> dict[str, Any]:
    said = stated.get(KEY)
    is_ours = isinstance(said, str) and scores_said(said) is not None
    return {name: value for name, value in stated.items() if name != KEY or not is_ours}


def scores_of(text: str) -> dict[str, Any] | None:
    """The scores that a file states; None for none."""
    stated, _ = front_matter(text)
    metadata = stated.get("metadata")
    said = metadata.get(KEY) if isinstance(metadata, dict) else None
    said = stated.get(KEY) if said is None else said
    return scores_said(said) if isinstance(said, str) else None


def with_scores(text: str, scores: Mapping[str, Any] | None) -> str:
    """The file with these scores in place of those that it has; None: without any.

    Raises UnchangeableError.
    """
    bare = _bare(text)
    if not scores:
        return bare
    line = f"{KEY}: {scores_text(scores)}"
    front = _FRONT.match(bare)
    if front is None:
        if bare.startswith(("---", "\ufeff")):
            message = "its front matter has no end"
            raise UnchangeableError(message)
        end = "\r\n" if "\r\n" in bare else "\n"
        made = f"---{end}{line}{end}---{end}{bare}"
    else:
        end = "\r\n" if front[1].endswith("\r\n") else "\n"
        made = bare[: front.end(1)] + _into(front[2], line, end) + bare[front.end(2) :]
    if scores_of(made) != dict(scores) or _bare(made) != bare:
        message = "its front matter is in a form into which scores cannot be written such that all else stays"
        raise UnchangeableError(message)
    return made


def _into(front: str, line: str, end: str) -> str:
    metadata = _METADATA.search(front)
    if metadata is None:
        return f"{front.removesuffix(chr(13))}{end}{line}" + ("\r" if front.endswith("\r") else "")
    at = metadata.end("end")
    return f"{front[:at]}{metadata['indent']}{line}{end}{front[at:]}"


def _bare(text: str) -> str:
    front = _FRONT.match(text)
    ours = _LINE.search(front[2]) if front is not None else None
    if front is None or ours is None or scores_said(ours["said"]) is None:
        return text
    if not front[2].replace(ours[0], "", 1).strip():
        return text[front.end() :]
    begin, end = ours.span()
    rest = front[2][:begin] + front[2][end:]
    if end == len(front[2]) and begin:  # the last line: what ended the one before it goes, for this one had no end
        rest = front[2][:begin].removesuffix("\n")
    return text[: front.end(1)] + rest + text[front.end(2) :]
