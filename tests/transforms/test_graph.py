"""The graph of tables: it says of each what it is made from, and each is made once."""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import is_dataclass
from functools import reduce
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

import polars as pl
import pytest
from each import each

from slowwave.transforms.core.frames import Frame, Lazy
from slowwave.transforms.core.node import GraphError, Handed, LandedInput, Node, TableInput, in_order, source_name
from slowwave.transforms.core.schema import Landed, Table, columns
from slowwave.transforms.graph import BY_DAY, EVIDENCE, NODES, PUBLISHED, REUSE, STATES, node_of
from slowwave.transforms.health.tables import MemoryHealth, MemoryHealthHistory
from slowwave.transforms.landing.tables import Interactions, Memories, Outcomes
from slowwave.transforms.learning.tables import AntiPatterns, Heuristics
from slowwave.transforms.params import Params

COMPUTED = [node for node in NODES if node.function]
# What the runner gives to whoever asks for it by this name, and what only says how something is done.
OF_THE_RUN = {"params", "as_of", "today", "counted_as"}
FIRST, SECOND = Handed("first", "One."), Handed("second", "Another.")


def function(node: Node) -> Any:
    """What computes a node."""
    module, _, name = node.function.partition(":")
    return getattr(importlib.import_module(module), name)


def tables_in_modules() -> Iterator[type[Table]]:
    """Every table that is published or kept by its columns: it has the run and its `as_of`, or is evidence."""
    todo = list(Table.__subclasses__())
    while todo:
        table = todo.pop()
        todo += table.__subclasses__()
        if table.__module__.startswith("slowwave.") and {"run_id", "as_of"} <= table.model_fields.keys():
            yield table


# ------------------------------------------------------------------------------------------------- the graph as it is


def test_every_node_stands_behind_what_it_takes():
    seen: set[object] = set()
    for node in NODES:
        assert [
            source_name(taken) for taken in node.taken if not isinstance(taken, LandedInput) and taken not in seen
        ] == []
        seen |= set(node.outputs)


def test_every_table_that_is_stamped_is_published_by_a_node():
    of_runs = {"runs"}
    assert {table.name for table in tables_in_modules()} - of_runs == {table.name for table in PUBLISHED}


def test_a_table_is_declared_once():
    names = sorted(table.name for table in tables_in_modules())
    assert names == sorted(set(names))


def test_names_are_given_once():
    for names in ([node.name for node in NODES], [t.name for t in PUBLISHED], [t.name for t in (*EVIDENCE, *STATES)]):
        assert len(names) == len(set(names))


def test_what_is_handed_is_taken_by_someone():
    taken = {taken for node in NODES for taken in node.taken}
    assert [
        given.name for node in NODES for given in node.outputs if isinstance(given, Handed) and given not in taken
    ] == []


@each("node", NODES)
def test_what_is_read_of_landed_tables_is_declared(node: Node):
    for rows in (taken for taken in node.taken if isinstance(taken, LandedInput)):
        assert set(rows.columns) <= {column.name for column in columns(rows.of)}
        assert len(rows.columns) == len(set(rows.columns))


@each("node", COMPUTED)
def test_a_function_takes_what_its_node_declares(node: Node):
    asked = inspect.signature(function(node)).parameters
    needed = {name for name, asking in asked.items() if asking.default is inspect.Parameter.empty}
    assert set(node.inputs) <= set(asked), "declared, but the function has no such parameter"
    carried = {"before"} if node.state is not None else set()
    assert needed - set(node.inputs) <= OF_THE_RUN | carried, "the function needs what is not declared"
    assert bool(node.params) == ("params" in asked)


def tables_of(annotation: Any) -> set[type[Table]]:
    """The tables whose frames an annotation names."""
    if get_origin(annotation) is Annotated:
        return {said for said in annotation.__metadata__ if isinstance(said, type) and issubclass(said, Table)}
    return {table for part in get_args(annotation) for table in tables_of(part)}


def wrongly_annotated(node: Node, computes: Any) -> list[str]:
    """Where a function's annotations name other tables than its node; what it returns may name them by its fields."""
    hints = inspect.get_annotations(computes, eval_str=True)
    given = hints["return"]
    has_fields = is_dataclass(given) or hasattr(given, "_fields")
    fields = get_type_hints(given, include_extras=True).values() if has_fields else [given]
    found = {name: tables_of(hints[name]) for name in node.inputs}
    found["return"] = {table for field in fields for table in tables_of(field)}
    wanted = {name: taken.of if isinstance(taken, TableInput) else taken for name, taken in node.inputs.items()}
    declared = {name: {taken} if isinstance(taken, type) else set() for name, taken in wanted.items()}
    declared["return"] = set(node.tables)
    return [
        f"{name}: {sorted(t.name for t in found[name])} instead of {sorted(t.name for t in tables)}"
        for name, tables in declared.items()
        if found[name] != tables
    ]


@each("node", COMPUTED)
def test_a_function_is_annotated_with_the_tables_of_its_node(node: Node):
    assert wrongly_annotated(node, function(node)) == []


@each("node", NODES)
def test_the_params_and_methods_of_a_node_exist(node: Node):
    for name in node.params:
        reduce(getattr, name.split("."), Params())
    for name in node.methods:
        if callable(getattr(Params, name, None)):  # of several sections
            continue
        is_read = f"{name}.".startswith(tuple(f"{read}." for read in node.params))
        assert is_read, f"{name} is of params that it does not read"
    assert all(isinstance(method, str) for method in node.method_ids(Params()))


@each("node", [node for node in COMPUTED if len(node.params) == 1])
def test_a_node_that_declares_one_param_reads_no_more(node: Node):
    """It is handed that one as it is, so its function asks for no protocol of several."""
    asked = inspect.signature(function(node)).parameters["params"].annotation
    assert not getattr(getattr(importlib.import_module(function(node).__module__), asked, None), "_is_protocol", False)


@each("node", [node for node in COMPUTED if len(node.params) > 1])
def test_params_are_declared_as_their_protocol_has_them(node: Node):
    """A node that reads several has a protocol of exactly these, by which the type checker holds its function."""
    asked = inspect.signature(function(node)).parameters["params"].annotation
    protocol = getattr(importlib.import_module(function(node).__module__), asked)
    named_there = {name for base in protocol.__mro__ for name in getattr(base, "__annotations__", {})} - {
        "_is_protocol"
    }
    by_last_part = {name.rpartition(".")[2] for name in node.params}
    assert {name for name in named_there if not name.startswith("_")} <= by_last_part


def test_every_method_of_a_run_is_of_a_node():
    params = Params.model_validate({"llm": {"model": "a model"}})
    brought = {"strategy_trend/3", "untried/1", "scorecard/2"}  # these come with heuristic/3
    of_nodes = {method for node in NODES for method in node.method_ids(params)}
    assert set(params.methods()) - of_nodes == brought
    assert of_nodes <= set(params.methods())


def test_every_param_is_read_by_a_node():
    read = {name.partition(".")[0] for node in NODES for name in node.params}
    assert read == set(Params.model_fields)


def test_asking_what_follows_from_what_loads_nothing_that_computes():
    code = "import sys, slowwave.transforms.graph; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert {"polars", "numpy", "numba", "scipy", "duckdb"} & set(loaded) == set()


def test_evidence_is_of_days():
    assert {node.grain for node in NODES if node.is_in_lake} == {"day"}
    assert {node_of(table).grain for table in BY_DAY} == {"day"}


@pytest.mark.parametrize("table", REUSE, ids=lambda table: table.name)
def test_how_a_table_is_reused_stands_at_its_own_node(table: type[Table]):
    assert table in node_of(table).tables
    assert table in PUBLISHED
    assert REUSE[table].dated in {column.name for column in columns(table)}


@pytest.mark.parametrize("table", BY_DAY, ids=lambda table: table.name)
def test_a_table_is_reused_only_while_nothing_that_it_is_made_from_has_changed(table: type[Table]):
    """Each landed table that it follows from is among those whose changed days are computed."""
    reuse = BY_DAY[table]
    seen = {below for given in reuse.changed_by for below in landed_below(given)}
    assert seen == set(landed_below(table))
    assert reuse.audits_new_by in {"", *table.key}


def test_landed_rows_reach_what_is_published():
    """From each landed table, by what takes from it, to memory_health and heuristics."""
    assert {Interactions, Outcomes, Memories} <= set(landed_below(Heuristics)) | {Memories}
    assert {Interactions, Outcomes, Memories} <= set(
        landed_below(next(t for t in PUBLISHED if t.name == "memory_health"))
    )


def landed_below(thing: Any) -> Iterator[type[Table]]:
    """The landed tables that something is made from."""
    if isinstance(thing, type) and issubclass(thing, Landed):
        yield thing
        return
    (giver,) = (node for node in NODES if thing in node.outputs)
    for taken in giver.taken:
        if isinstance(taken, LandedInput):
            yield taken.of
        else:
            yield from landed_below(taken)


# ------------------------------------------------------------------------------------ the rules catch what they forbid


def node(*, outputs: tuple[Any, ...], inputs: dict[str, Any]) -> Node:
    """A node of no function."""
    return Node("", outputs=outputs, inputs=inputs)


def test_nodes_are_put_in_order():
    last, begin = node(outputs=(SECOND,), inputs={"first": FIRST}), node(outputs=(FIRST,), inputs={})
    assert in_order((last, begin)) == (begin, last)
    assert in_order((begin, last)) == (begin, last)


def test_a_circle_is_refused():
    with pytest.raises(GraphError, match="a circle: first from second from first"):
        in_order((node(outputs=(FIRST,), inputs={"a": SECOND}), node(outputs=(SECOND,), inputs={"a": FIRST})))


def test_a_table_that_is_given_twice_is_refused():
    with pytest.raises(GraphError, match="heuristics is given by heuristics and by heuristics"):
        in_order((node(outputs=(Heuristics,), inputs={}), node(outputs=(Heuristics,), inputs={})))


def test_what_nobody_gives_is_refused():
    with pytest.raises(GraphError, match="second takes first, which nobody gives"):
        in_order((node(outputs=(SECOND,), inputs={"a": FIRST}),))


class _Both(NamedTuple):
    heuristics: Frame[Heuristics]
    anti_patterns: Frame[AntiPatterns]


_NO_GIVEN = "return: [] instead of ['anti_patterns', 'heuristics']"
_ONE_GIVEN = "return: ['heuristics'] instead of ['anti_patterns', 'heuristics']"


@pytest.mark.parametrize(
    ("takes", "gives", "wrong"),
    [
        (Frame[MemoryHealth], _Both, []),
        (Lazy[MemoryHealth] | None, tuple[Frame[Heuristics], Lazy[AntiPatterns], pl.DataFrame], []),
        (Frame[MemoryHealthHistory], _Both, ["health: ['memory_health_history'] instead of ['memory_health']"]),
        (pl.DataFrame, _Both, ["health: [] instead of ['memory_health']"]),
        (Frame[MemoryHealth], pl.DataFrame, [_NO_GIVEN]),
        (Frame[MemoryHealth], Frame[Heuristics], [_ONE_GIVEN]),
    ],
)
def test_an_annotation_of_another_table_is_caught(takes: Any, gives: Any, wrong: list[str]):
    def computes(health, handed):
        return health, handed

    computes.__annotations__ = {"health": takes, "handed": pl.DataFrame, "return": gives}
    declared = node(outputs=(Heuristics, AntiPatterns, FIRST), inputs={"health": MemoryHealth, "handed": SECOND})
    assert wrongly_annotated(declared, computes) == wrong


def test_a_table_for_what_is_only_handed_is_caught():
    def computes(handed: Frame[Heuristics]) -> pl.DataFrame:
        return handed

    wrong = wrongly_annotated(node(outputs=(FIRST,), inputs={"handed": SECOND}), computes)
    assert wrong == ["handed: ['heuristics'] instead of []"]


def test_a_state_says_of_each_part_what_it_was_made_of_and_whose_function_is_handed_it():
    for state in STATES:
        assert {"part", "made_of"} <= state.model_fields.keys()
        assert "before" in inspect.signature(function(node_of(state))).parameters
