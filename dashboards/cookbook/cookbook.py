"""The analysts' cookbook: questions with the SQL that answers them, for `slowwave sql NAME` and for dashboards.

A file `queries/NAME.sql` begins with its header, `--` comments that go on over indented lines:

    -- question: Which memories do answers quote or use most?
    -- columns: memory_id – the memory; reference_count (interactions) – answers that echo it
    -- params: project=harbour-shop; memory_id
    -- A remark may follow.

Columns are `name (unit) – meaning`, the unit only where there is one. A param is a `$name` of the query, always text;
without `=` there is no default and it must be given. A param with the default `%` (project, task_type, verdict, ...) is
a pattern: `%` is any text, `_` any character, and a backslash before one of the three takes it as it stands, which
`exactly` does for a whole text. All others are compared as they are. A memory of no agent belongs to all of them: with
an `agent` it is found too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable

_ENTRY = re.compile(r"-- (question|columns|params): (.+)")
_CONTINUED = re.compile(r"--  +(.+)")
_COLUMN = re.compile(r"(\w+)(?: \(([^)]+)\))? – (.+)")


@dataclass(frozen=True)
class AnswerColumn:
    """A column of an answer; `unit` is '' where there is none."""

    name: str
    unit: str
    meaning: str


@dataclass(frozen=True)
class Recipe:
    """A question, the SQL that answers it, what its columns mean, and its params (None: must be given)."""

    name: str
    question: str
    columns: tuple[AnswerColumn, ...]
    params: dict[str, str | None]
    sql: str


@cache
def cookbook() -> Mapping[str, Recipe]:
    """Every recipe by name, sorted: read once, for a page asks for its recipes at every answer."""
    found = {
        entry.name.removesuffix(".sql"): entry
        for entry in _files(resources.files("slowwave.dashboards.cookbook").joinpath("queries"))
    }
    return {name: read_recipe(name, entry.read_text(encoding="utf-8")) for name, entry in sorted(found.items())}


def _files(folder: Traversable) -> Iterator[Traversable]:
    """The queries in a folder and in the folders of it, which group them."""
    for entry in folder.iterdir():
        if entry.name.endswith(".sql"):
            yield entry
        elif entry.is_dir():
            yield from _files(entry)


def exactly(text: str) -> str:
    """The pattern that matches `text` alone, for a param that is a pattern."""
    return re.sub(r"([\\%_])", r"\\\1", text)


def read_recipe(name: str, sql: str) -> Recipe:
    """One recipe from its file's text.

    Raises ValueError when the header lacks the question or the columns, or says something else.
    """
    entries: dict[str, str] = {}
    entry = ""
    for line in sql.splitlines():
        if not line.startswith("--"):
            break
        if match := _ENTRY.fullmatch(line):
            entry = match[1]
            entries[entry] = match[2].strip()
        elif entry and (match := _CONTINUED.fullmatch(line)):
            entries[entry] += " " + match[1].strip()
        elif line.startswith("-- ") and {"question", "columns"} <= entries.keys():
            entry = ""  # a remark
        else:
            message = f"{name}.sql: {line!r} is no header line"
            raise ValueError(message)
    if not {"question", "columns"} <= entries.keys():
        message = f"{name}.sql must begin with '-- question: …' and '-- columns: …'"
        raise ValueError(message)
    columns = tuple(_column(name, text.strip()) for text in entries["columns"].split(";"))
    given = (text.strip().partition("=") for text in entries.get("params", "").split(";") if text.strip())
    params = {param: default if equals else None for param, equals, default in given}
    return Recipe(name, entries["question"], columns, params, sql)


def _column(name: str, text: str) -> AnswerColumn:
    match = _COLUMN.fullmatch(text)
    if match is None:
        message = f"{name}.sql: column {text!r} is not 'name (unit) – meaning'"
        raise ValueError(message)
    return AnswerColumn(match[1], match[2] or "", match[3])
