"""Columns own their lists: what is true of a column stands in its declaration, and every list of columns follows."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest
from declared_columns import WRITTEN, declared_text

from slowwave.dashboards.cookbook.cookbook import cookbook
from slowwave.transforms.core.node import LandedInput, TableInput
from slowwave.transforms.core.schema import Table, choose_columns, columns
from slowwave.transforms.evidence.tables import MemoriesNow
from slowwave.transforms.health.tables import MemoryHealth
from slowwave.transforms.landing.tables import Memories

ROOT = Path(__file__).resolve().parents[2]
# So many columns of one table are a list to keep.
LEAST = 4
# What looks at the declarations: each name is one, so that none outlives its column.
BINDS = {each.__name__ for each in (choose_columns, LandedInput, TableInput)}
# Where names are others': of the columns of foreign files, of recipes, and of the rows that a producer writes.
OTHERS = ("transforms/imports/", "dashboards/", "data/")
# Lists that stay, each with its reason.
KEPT = {
    "flows/kernel/declared_columns.py": "is written from the declarations, and compared with them below",
    "flows/ask/why/observations.py": "facts of an observation in the order of its screen, which loads no declarations",
    "flows/care/status.py": "facts of a run in the order of the check, which loads no declarations",
    "flows/cli/demo.py": "a decision of the made-up story: a row, whose values are written down",
    "flows/cli/review.py": "what is shown of an item, in order, and the words for what a decision cleared",
    "transforms/core/vocabularies.py": "columns that several declarations have alike, for all of them",
    "transforms/grouping/error_fingerprints.py": "what groups errors stands below the tables that name the groups",
}


@cache
def declared() -> Mapping[str, frozenset[str]]:
    """The columns of every table that is declared, by its class."""
    found: dict[str, frozenset[str]] = {}
    for path in sorted((ROOT / "transforms").rglob("*table*.py")):
        module = importlib.import_module("slowwave." + ".".join(path.relative_to(ROOT).with_suffix("").parts))
        for name, table in inspect.getmembers(module, inspect.isclass):
            if issubclass(table, Table) and hasattr(table, "name"):
                found[name] = frozenset(c.name for c in columns(table))
    return found


def column_lists(source: str) -> Iterator[str]:
    """Each literal tuple, list, set or dict that names `LEAST` columns of one table or more, and little else.

    Not what is given to `BINDS`, whose names are looked up; nor a dict whose values are computed, which is a row.
    """
    tree = ast.parse(source)
    bound = {
        id(inner)
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in BINDS
        for inner in ast.walk(call)
    }
    for node in ast.walk(tree):
        items: list[ast.expr | None] = []
        if isinstance(node, (ast.Tuple, ast.List, ast.Set)) and id(node) not in bound:
            items = [*node.elts]
        elif isinstance(node, ast.Dict) and all(isinstance(value, ast.Constant) for value in node.values):
            items = [*node.keys]
        else:
            continue
        names = {one.value for one in items if isinstance(one, ast.Constant) and isinstance(one.value, str)}
        table, most = max(((name, len(names & of)) for name, of in declared().items()), key=lambda pair: pair[1])
        if most >= LEAST and 2 * most >= len(items):
            yield f"line {node.lineno} lists {most} columns of {table}"


def test_no_list_of_columns_is_kept_by_hand():
    found = {
        name: lists
        for path in sorted((*(ROOT / "transforms").rglob("*.py"), *(ROOT / "flows").rglob("*.py")))
        if not (name := path.relative_to(ROOT).as_posix()).startswith(OTHERS)
        and not path.stem.endswith(("table", "tables"))
        and (lists := [*column_lists(path.read_text())])
    }
    assert {name: lists for name, lists in found.items() if name not in KEPT} == {}
    assert KEPT.keys() <= found.keys(), "a reason for what is no list by now"


@pytest.mark.parametrize(
    "source",
    [
        'A = ("content", "status", "category", "domain")',
        'for name in ["content", "status", "category", "domain", *others]: ...',
        'A = {"content", "status", "category", "domain", "something_else"}',
        'A = {"content": "VARCHAR", "status": "VARCHAR", "category": "VARCHAR", "domain": "VARCHAR"}',
        'def f(): return frame.select(("attempts", "successes", "confidence", "confidence_low"))',
    ],
)
def test_a_list_of_columns_is_found(source: str):
    assert len([*column_lists(source)]) == 1


@pytest.mark.parametrize(
    "source",
    [
        'A = ("content", "status", "category")',
        'A = choose_columns(Memories, *("content", "status", "category", "domain"))',
        'A = LandedInput(Memories, ("content", "status", "category", "domain"))',
        'row = {"content": text, "status": "active", "category": None, "domain": None}',
        'A = ("content", "status", "category", "domain", "of", "other", "things", "more", "often")',
    ],
)
def test_what_is_no_list_to_keep_is_left_alone(source: str):
    assert [*column_lists(source)] == []


def test_a_name_that_is_not_declared_is_refused():
    with pytest.raises(ValueError, match="memories has no column colour"):
        choose_columns(Memories, "content", "colour")
    with pytest.raises(ValueError, match="memory_health has no column colour"):
        TableInput(MemoryHealth, ("colour",))


def test_what_commands_read_instead_of_the_declarations_is_what_they_say():
    assert WRITTEN.read_text() == declared_text(), "run `make declared`"


def test_every_field_of_a_memory_is_published():
    """What is carried on is what it is now; memory_health shows it, but for what says where it comes from and went."""
    now, health = MemoriesNow.model_fields.keys(), MemoryHealth.model_fields.keys()
    assert set(Memories.state) - now == set()
    assert set(Memories.state) - health == {"source_ids", "superseded_by", "parent_id"}


def test_the_recipe_of_a_memory_shows_all_that_is_published_of_it():
    shown = {column.name for column in cookbook()["memory"].columns}
    assert MemoryHealth.model_fields.keys() - shown == {"run_id"}
