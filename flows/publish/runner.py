"""Computes what the graph declares: each node once, behind what it takes, until nobody takes it any more.

What is read from the lake, and what is made piece by piece, a shell hands in; all else follows from the declarations.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from importlib import import_module
from typing import Any, Protocol

import polars as pl

from slowwave.flows.kernel.stage_costs import stage_cost
from slowwave.transforms.core.frames import framed
from slowwave.transforms.core.node import (
    Given,
    GraphError,
    Handed,
    LandedInput,
    Node,
    PartitionNames,
    Resumed,
    Source,
    TableInput,
    Taken,
)
from slowwave.transforms.core.schema import Table
from slowwave.transforms.core.times import epoch_day
from slowwave.transforms.params import Params

# A stream of frames, read once: what need not be held as a whole.
Pieces = Iterator[pl.DataFrame]


class Shell(Protocol):
    """What a runner cannot know of: the lake, and where published tables go."""

    def reader(self, given: Given) -> Callable[[Runner], Any] | None:
        """What reads it instead of the function of its node, if anything does."""
        ...

    def rows(self, rows: LandedInput, days: Iterable[date] | None, keys: pl.DataFrame | None = None) -> pl.LazyFrame:
        """Winning rows of a landed table, of all days or of these; of these keys alone, where they are given."""
        ...

    def is_stored(self, table: type[Table]) -> bool:
        """Whether a table is there already, by day: it is read, not computed."""
        ...

    def partitions(self, table: type[Table]) -> Mapping[date, str]:
        """By day what a stored table is named after."""
        ...

    def scan_table(self, table: type[Table], days: Iterable[date] | None) -> pl.LazyFrame:
        """Such a table, of all days or of these; of a state what was kept, of whatever night, or nothing."""
        ...

    def days_together(self, node: Node, runner: Runner) -> Iterator[Sequence[date]]:
        """The days that a node is computed for, so many at a time as are read together."""
        ...

    def resume(self, resumed: Resumed) -> tuple[date, pl.DataFrame | None]:
        """The first day of a published table that is computed, and the highest counts of the days before: all days."""
        del resumed
        return date.min, None

    def write(self, table: type[Table], pieces: Pieces) -> int:
        """Keep a table; returns its rows. It may be stored from then on."""
        ...

    def release_memory(self) -> None:
        """Told after each node that cost much: what it left behind can be given back."""
        ...


class Runner:
    """One run of the graph: the values that the wanted tables need, and no others.

    Args:
        nodes: in the order of the graph.
        wanted: the tables that are written.
        shell: reads and writes.
        params: of the run; a node gets those it declares and no others.
        as_of: what is computed is what was known before it.
    """

    def __init__(
        self, nodes: Sequence[Node], wanted: Collection[type[Table]], shell: Shell, params: Params, as_of: datetime
    ) -> None:
        self.rows: dict[str, int] = {}
        self._shell = shell
        self._params = params
        self._offered = {"as_of": as_of, "today": epoch_day(as_of), "counted_as": stage_cost}
        self._by_given = {given: node for node in nodes for given in node.outputs}
        self._tables = wanted
        self._nodes = _behind(nodes, wanted, shell)
        self._values: dict[Given, Any] = {}
        self._done: set[Node] = set()

    def value(self, given: Given) -> Any:  # noqa: ANN401 - a frame, or what its node says that it hands on
        """What a node gives, computed now if it is not there: frames as its function returns them."""
        node = self._by_given[given]
        if self._is_stored(given):
            return self._shell.scan_table(given, None)  # type: ignore[arg-type] - what is stored is a table
        if node not in self._done:
            self._compute(node)
        return self._values[given]

    def run(self, progress: Callable[[int, int], None]) -> None:
        """Compute what is wanted and write it; `progress` is told how many nodes are done, and of how many."""
        for place, node in enumerate(self._nodes):
            progress(place, len(self._nodes))
            if node not in self._done:
                self._compute(node)
            for table in node.tables:
                if table in self._tables or table is node.state:
                    self._write(node, table)
            self._let_go(self._nodes[place + 1 :])
            self._shell.release_memory()
        progress(len(self._nodes), len(self._nodes))

    def _is_stored(self, given: Taken) -> bool:
        return isinstance(given, type) and self._shell.is_stored(given)

    def _write(self, node: Node, table: type[Table]) -> None:
        value = self._values[table]
        if isinstance(value, Iterator):
            with stage_cost(node.stage, node.name):
                self.rows[table.name] = self._shell.write(table, (framed(table, piece) for piece in value))
        else:
            with stage_cost("publish", node.name):
                self.rows[table.name] = self._shell.write(table, iter([framed(table, value)]))
        if self._shell.is_stored(table):
            del self._values[table]  # who takes it reads it from there

    def _let_go(self, later: Sequence[Node]) -> None:
        """Keep of what there is what these nodes take or give, and of a table the columns that they take."""
        taken = [one for node in later for one in (*node.inputs.values(), *(rows.keys for rows in node.landed))]
        for given in [given for given in self._values if self._by_given[given] not in later]:
            parts = [one for one in taken if isinstance(one, TableInput) and one.of is given]
            if given in taken:
                continue
            if not parts:
                del self._values[given]
            elif len(names := {name for part in parts for name in part.columns}) < self._values[given].width:
                self._values[given] = self._values[given].select(sorted(names))

    def _compute(self, node: Node) -> None:
        self._done.add(node)
        readers = {given: self._shell.reader(given) for given in node.outputs}
        if all(readers.values()):
            with stage_cost(node.stage, node.name):
                self._values |= {given: reader(self) for given, reader in readers.items() if reader is not None}
            return
        function = imported_function(node.function)
        if node.grain == "day":
            pieces = self._by_day(node, function)
            self._values[node.outputs[0]] = pieces if node.tables else self._concat_pieces(node, pieces)
            return
        with stage_cost(node.stage, node.name):
            found = function(**self._arguments(node, function, None))
            found = (found,) if len(node.outputs) == 1 else found
            self._values |= {
                given: one.collect() if isinstance(one, pl.LazyFrame) else one
                for given, one in zip(node.outputs, found, strict=True)
            }

    def _by_day(self, node: Node, function: Callable[..., Any]) -> Pieces:
        """What a node gives, some days at a time, or piece by piece as it takes them."""
        for name, taken in node.inputs.items():
            pieces = None if isinstance(taken, tuple) else self._values.get(taken)  # type: ignore[arg-type] - else not found
            if isinstance(pieces, Iterator):
                others = {other: one for other, one in node.inputs.items() if other != name}
                arguments = self._arguments(node, function, None, others)
                for piece in pieces:
                    yield _eager(function(**arguments, **{name: _as_declared(piece, function, name)}))
                return
        for days in self._shell.days_together(node, self):
            yield _eager(function(**self._arguments(node, function, days)))

    def _concat_pieces(self, node: Node, pieces: Pieces) -> pl.DataFrame:
        with stage_cost(node.stage, node.name):
            return pl.concat(pieces)

    def _arguments(
        self,
        node: Node,
        function: Callable[..., Any],
        days: Sequence[date] | None,
        inputs: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        resumed: dict[str, Any] = {}
        if node.resumes is not None:
            resumed["first_day"], resumed["before"] = first_day, _ = self._shell.resume(node.resumes)
            stored = [taken for taken in node.taken if self._is_stored(taken)]
            days = sorted({day for of in stored for day in self._shell.partitions(of) if day >= first_day})  # type: ignore[arg-type] - what is stored is a table
        found = resumed | {
            name: _as_declared(self._value(taken, days), function, name)
            for name, taken in (node.inputs if inputs is None else inputs).items()
        }
        signature = inspect.signature(function).parameters
        if node.params:
            found["params"] = node.select_params(self._params)
        if node.state is not None:
            found["before"] = _as_declared(self._shell.scan_table(node.state, None), function, "before")
        return found | {name: value for name, value in self._offered.items() if name in signature}

    def _value(self, taken: Taken | tuple[Taken, ...], days: Sequence[date] | None = None) -> Any:  # noqa: ANN401
        if isinstance(taken, tuple):
            return self._stack_rows(taken, days)
        if isinstance(taken, LandedInput):
            return self._shell.rows(taken, days, None if taken.keys is None else self.value(taken.keys))
        if isinstance(taken, PartitionNames):
            return self._shell.partitions(taken.of)
        if isinstance(taken, TableInput):
            return self.value(taken.of).select(taken.columns)
        if days is not None and self._is_stored(taken):
            return self._shell.scan_table(taken, days)  # type: ignore[arg-type] - what is stored is a table
        return self.value(taken)

    def _stack_rows(self, several: Sequence[Taken], days: Sequence[date] | None) -> pl.LazyFrame:
        """Rows of several landed tables, below each other."""
        landed = {one.of: one for one in several if isinstance(one, LandedInput)}
        if len(landed) != len(several):
            message = f"{' and '.join(str(one) for one in several)} together are read by nobody here"
            raise GraphError(message)
        each = [
            self._shell.rows(rows, days)
            .rename({of.event_time: "occurred_at"}, strict=False)
            .with_columns(landed_table=pl.lit(of.name))
            for of, rows in landed.items()
        ]
        return pl.concat(each, how="diagonal_relaxed")  # a later release may widen the type of a landed column


def _behind(nodes: Sequence[Node], wanted: Collection[type[Table]], shell: Shell) -> Sequence[Node]:
    """The nodes that must be computed for these tables, in order."""
    needed: set[Source] = {*wanted}
    found: list[Node] = []
    for node in reversed(nodes):
        if needed.intersection(node.outputs):
            found.append(node)
            if not all(map(shell.reader, node.outputs)):
                taken = (taken for taken in node.taken if not isinstance(taken, LandedInput))
                needed |= {taken for taken in taken if isinstance(taken, Handed) or not shell.is_stored(taken)}
    return found[::-1]


def imported_function(name: str) -> Callable[..., Any]:
    """The function that a node names."""
    module, _, of_module = name.partition(":")
    return getattr(import_module(module), of_module)


def _as_declared(value: Any, function: Callable[..., Any], name: str) -> Any:  # noqa: ANN401 - frames, and what is no frame
    """A frame as the function takes it: lazy where its annotation says so, else collected."""
    is_lazy = "Lazy" in inspect.signature(function).parameters[name].annotation
    if is_lazy and isinstance(value, pl.DataFrame):
        return value.lazy()
    return value.collect() if isinstance(value, pl.LazyFrame) and not is_lazy else value


def _eager(frame: pl.DataFrame | pl.LazyFrame) -> pl.DataFrame:
    return frame.collect() if isinstance(frame, pl.LazyFrame) else frame
