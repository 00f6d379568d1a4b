"""Markdown as people and agents write their instructions: what stands before the text, and its sections."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import chain, count
from typing import Any

_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.+?)[ \t]*#*[ \t]*$")
_FRONT = re.compile(r"\ufeff?---[ \t]*\r?\n(.*?)(?:^|\n)---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_PAIR = re.compile(r"([A-Za-z_][\w.-]*)[ \t]*:(?:[ \t]+(.*))?$")
_BLOCK = re.compile(r"[|>][+-]?$")


@dataclass(frozen=True)
class Section:
    """A heading with the text up to the next heading of any level.

    `slug` tells it within its file, '' before the first heading. `path`: the headings above it and its own.
    """

    slug: str
    path: tuple[str, ...]
    text: str


def sections(text: str) -> list[Section]:
    """The sections that say something, in their order; a `#` in a fenced block of code is no heading."""
    found: list[Section] = []
    above: list[tuple[int, str]] = []
    slugs: set[str] = set()
    slug, lines, fence = "", [], ""

    def end() -> None:
        body = "\n".join(lines).strip()
        if body:
            found.append(Section(slug, tuple(title for _, title in above), body))

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
    found = _FRONT.match(text)
    if found is None:
        return {}, text
    lines = [line for line in found[1].splitlines() if line.strip() and not line.lstrip().startswith("#")]
    return _mapping(lines), text[found.end() :]


def _mapping(lines: list[str]) -> dict[str, Any]:
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
            stated[pair[1]] = _value(pair[2] or "", lines[at + 1 : end])
        at = end
    return stated


def _value(said: str, below: list[str]) -> Any:  # noqa: ANN401 - a text, texts, or a mapping
    said = said.strip()
    if not below:
        return [_scalar(one) for one in said[1:-1].split(",") if one.strip()] if _is_flow(said) else _scalar(said)
    stripped = [line.strip() for line in below]
    if said and not _BLOCK.match(said):
        return " ".join([said, *stripped])
    if said:
        return ("\n" if said[0] == "|" else " ").join(stripped)
    if all(line.startswith("- ") for line in stripped):
        return [_scalar(line[2:]) for line in stripped]
    return _mapping(below)


def _is_flow(said: str) -> bool:
    return said.startswith("[") and said.endswith("]")


def _scalar(said: str) -> str:
    said = said.strip()
    if len(said) > 1 and said[0] == said[-1] and said[0] in "\"'":
        return said[1:-1].replace("''", "'") if said[0] == "'" else said[1:-1].replace('\\"', '"')
    return said.partition(" #")[0].rstrip()


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
