"""One name, one meaning: what a column of the serving file is called tells what it is, whatever its table."""

from __future__ import annotations

import re
from collections import defaultdict

from slowwave.transforms.core.schema import columns
from slowwave.transforms.graph import SERVING

# Names that have a definition per table, and why they keep it.
_SEVERAL = {
    "confidence": "of a memory, a strategy and an observation: producers and readers know each by this name",
    "kind": "of whatever its table holds: a pattern, an item, a statement, a run, a delivered row",
    "source_ids": "of a memory as producers state them, of an observation those of its memories",
    "scope": "as producers state it, and of observations what they are compared within: readers know both by this name",
    "status": "of a memory everywhere but in the ledger of runs, where it is the run's",
    "trend": "of a memory everywhere but in `heuristics`, where it is the strategy's: readers know both by this name",
}


def _definition(description: str) -> str:
    """Its first sentence. What follows says what is special in the table: whose it is, as of when, what NULL is."""
    return re.split(r"(?<=\.)(?: |$)", description.removeprefix("Key: "), maxsplit=1)[0].casefold()


def test_a_column_name_has_one_definition_and_unit_or_is_listed_with_its_reason() -> None:
    found = defaultdict[str, dict[tuple[str, str | None], list[str]]](dict)
    for table in SERVING:
        for column in columns(table):
            meaning = (_definition(column.description), column.unit)
            found[column.name].setdefault(meaning, []).append(table.name)
    several = {name: meanings for name, meanings in found.items() if len(meanings) > 1}
    assert {name: several[name] for name in several.keys() - _SEVERAL.keys()} == {}
    assert _SEVERAL.keys() <= several.keys(), "a reason for what has one meaning by now"


def test_an_old_name_is_no_column_of_its_table() -> None:
    for table in SERVING:
        names = {column.name for column in columns(table)}
        assert names.isdisjoint({column.old_name for column in columns(table)}), table.name
