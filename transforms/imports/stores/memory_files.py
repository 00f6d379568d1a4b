"""Files of memories: the sections of Markdown, what stands before them, and scores in the front matter."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain, count
from typing import Any

# ------------------------------------------------------------------------------------------
# Markdown as people and agents write their instructions: what stands before the text, and its sections.

_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.+?)[ \t]*#*[ \t]*$")
_FRONT_MATTER = re.compile(r"\ufeff?---[ \t]*\r?\n(.*?)(?:^|\n)---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_PAIR = re.compile(r"([A-Za-z_][\w.-]*)[ \t]*:(?:[ \t]+(.*))?$")
_BLOCK = re.compile(r"[|>][+-]?$")


@dataclass(frozen=True)
class MarkdownSection:
    """A heading with the text up to the next heading of any level.

    `slug` tells it within its file, '' before the first heading. `path`: the headings above it and its own.
    """

    slug: str
    path: tuple[str, ...]
    text: str


def sections(text: str) -> list[MarkdownSection]:
    """The sections that say something, in their order; a `#` in a fenced block of code is no heading."""
    found: list[MarkdownSection] = []
    above: list[tuple[int, str]] = []
    slugs: set[str] = set()
    slug, lines, fence = "", [], ""

    def end() -> None:
        body = "\n".join(lines).strip()
        if body:
            found.append(MarkdownSection(slug, tuple(title for _, title in above), body))

    for line in text.removeprefix("\ufeff").splitlines():
        marks = _FENCE.match(line)
        if marks and (not fence or marks[1].startswith(fence)):
            fence = "" if fence else marks[1]
        heading = None if fence or marks else _HEADING.match(line)
        if heading is None:
            lines.append(line)
            continue
        end()
        level, title = len(heading[1]), heading[2]
        above = [*(one for one in above if one[0] < level), (level, title)]
        slug, lines = _slug(title, slugs), []
    end()
    return found


def _slug(title: str, used: set[str]) -> str:
    """The title in lower case with hyphens, numbered from the second of its name on."""
    plain = re.sub(r"[^\w]+", "-", title.lower()).strip("-") or "section"
    slug = next(one for one in chain([plain], (f"{plain}-{number}" for number in count(2))) if one not in used)
    used.add(slug)
    return slug


def front_matter(text: str) -> tuple[dict[str, Any], str]:
    """What stands between `---` lines at the start, and the text behind.

    Of YAML what such files hold: names with a text, a list of texts or further names below them; anything else is
    left where it is, as a text.
    """
    found = _FRONT_MATTER.match(text)
    if found is None:
        return {}, text
    lines = [line for line in found[1].splitlines() if line.strip() and not line.lstrip().startswith("#")]
    return _parse_mapping(lines), text[found.end() :]


def _parse_mapping(lines: list[str]) -> dict[str, Any]:
    stated: dict[str, Any] = {}
    at = 0
    while at < len(lines):
        pair = _PAIR.match(lines[at].strip())
        end = at + 1
        while end < len(lines) and _indent(lines[end]) > _indent(lines[at]):
            end += 1
        while end < len(lines) and lines[end].lstrip().startswith("- ") and not (pair and pair[2]):
            end += 1  # a list may stand as far left as its name
        if pair is not None:
            stated[pair[1]] = _parse_value(pair[2] or "", lines[at + 1 : end])
        at = end
    return stated


def _parse_value(said: str, below: list[str]) -> Any:  # noqa: ANN401 - a text, texts, or a mapping
    said = said.strip()
    if not below:
        return (
            [_parse_scalar(one) for one in said[1:-1].split(",") if one.strip()]
            if _is_flow(said)
            else _parse_scalar(said)
        )
    stripped = [line.strip() for line in below]
    if said and not _BLOCK.match(said):
        return " ".join([said, *stripped])
    if said:
        return ("\n" if said[0] == "|" else " ").join(stripped)
    if all(line.startswith("- ") for line in stripped):
        return [_parse_scalar(line[2:]) for line in stripped]
    return _parse_mapping(below)


def _is_flow(said: str) -> bool:
    return said.startswith("[") and said.endswith("]")


def _parse_scalar(said: str) -> str:
    said = said.strip()
    if len(said) > 1 and said[0] == said[-1] and said[0] in "\"'":
        return said[1:-1].replace("''", "'") if said[0] == "'" else said[1:-1].replace('\\"', '"')
    return said.partition(" #")[0].rstrip()


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


# ------------------------------------------------------------------------------------------
# Scores in the front matter of a memory file: one line, `slowwave: confidence 0.72; verdict keep`.
# It stands below `metadata:` where the file has that, else by itself; all else in the file stays byte for byte.

SCORES_KEY = "slowwave"
_FRONT_PARTS = re.compile(r"(\ufeff?---[ \t]*\r?\n)(.*?)((?:^|\n)---[ \t]*(?:\r?\n|\Z))", re.DOTALL)
_LINE = re.compile(rf"(?m)^[ \t]*{SCORES_KEY}:[ \t]*(?P<said>[^\r\n]*)\r?\n?")
_METADATA = re.compile(r"(?m)^metadata:[ \t]*(?P<end>\r?\n)(?P<indent>[ \t]+)(?=\S)")


class UnchangeableError(Exception):
    """The front matter is in a form into which nothing is written; the message says which."""


def scores_text(scores: Mapping[str, Any]) -> str:
    """Scores as one line for people: `confidence 0.72; verdict keep`."""
    return "; ".join(f"{name} {value}" for name, value in sorted(scores.items()))


def parse_scores(text: str) -> dict[str, Any] | None:
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
    kept = _without_own(stated)
    if isinstance(metadata := kept.get("metadata"), Mapping):
        kept["metadata"] = _without_own(metadata)
    return kept


def _without_own(stated: Mapping[str, Any]) -> dict[str, Any]:
    said = stated.get(SCORES_KEY)
    is_ours = isinstance(said, str) and parse_scores(said) is not None
    return {name: value for name, value in stated.items() if name != SCORES_KEY or not is_ours}


def scores_in(text: str) -> dict[str, Any] | None:
    """The scores that a file states; None for none."""
    stated, _ = front_matter(text)
    metadata = stated.get("metadata")
    said = metadata.get(SCORES_KEY) if isinstance(metadata, dict) else None
    said = stated.get(SCORES_KEY) if said is None else said
    return parse_scores(said) if isinstance(said, str) else None


def with_scores(text: str, scores: Mapping[str, Any] | None) -> str:
    """The file with these scores in place of those that it has; None: without any.

    Raises UnchangeableError.
    """
    bare = _without_score_line(text)
    if not scores:
        return bare
    line = f"{SCORES_KEY}: {scores_text(scores)}"
    front = _FRONT_PARTS.match(bare)
    if front is None:
        if bare.startswith(("---", "\ufeff")):
            message = "its front matter has no end"
            raise UnchangeableError(message)
        end = "\r\n" if "\r\n" in bare else "\n"
        made = f"---{end}{line}{end}---{end}{bare}"
    else:
        end = "\r\n" if front[1].endswith("\r\n") else "\n"
        made = bare[: front.end(1)] + _insert_line(front[2], line, end) + bare[front.end(2) :]
    if scores_in(made) != dict(scores) or _without_score_line(made) != bare:
        message = "its front matter is in a form into which scores cannot be written such that all else stays"
        raise UnchangeableError(message)
    return made


def _insert_line(front: str, line: str, end: str) -> str:
    metadata = _METADATA.search(front)
    if metadata is None:
        return f"{front.removesuffix(chr(13))}{end}{line}" + ("\r" if front.endswith("\r") else "")
    at = metadata.end("end")
    return f"{front[:at]}{metadata['indent']}{line}{end}{front[at:]}"


def _without_score_line(text: str) -> str:
    front = _FRONT_PARTS.match(text)
    ours = _LINE.search(front[2]) if front is not None else None
    if front is None or ours is None or parse_scores(ours["said"]) is None:
        return text
    if not front[2].replace(ours[0], "", 1).strip():
        return text[front.end() :]
    begin, end = ours.span()
    rest = front[2][:begin] + front[2][end:]
    if end == len(front[2]) and begin:  # the last line: what ended the one before it goes, for this one had no end
        rest = front[2][:begin].removesuffix("\n")
    return text[: front.end(1)] + rest + text[front.end(2) :]
