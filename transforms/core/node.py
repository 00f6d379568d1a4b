"""How a table says what it is made from: a node names a function, its inputs and its outputs.

A function is named, not imported: who asks what follows from what need not load what computes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from types import SimpleNamespace
from typing import Any, Literal

from slowwave.transforms.core.schema import Landed, State, Table, choose_columns
from slowwave.transforms.core.vocabularies import Stage

Grain = Literal["day", "whole"]


@dataclass(frozen=True)
class Handed:
    """What one node hands to others, and nobody keeps."""

    name: str
    description: str


@dataclass(frozen=True)
class LandedInput:
    """The winning rows of a landed table, as far as they are read.

    `keys`: no other rows are read than those whose key stands there. `listing`: a column of lists; days on which none
    of them lists anything are not read.
    """

    of: type[Landed]
    columns: tuple[str, ...]
    keys: Given | None = None
    listing: str = ""

    def __post_init__(self) -> None:
        """Refuse a name that is not declared."""
        choose_columns(self.of, *self.columns)

    @property
    def renames(self) -> dict[str, str]:
        """What columns are called once they are read."""
        return {self.of.event_time: self.of.read_as} if self.of.read_as else {}


@dataclass(frozen=True)
class TableInput:
    """Of a derived table the columns that are read: as soon as nobody reads others, no more of it is held."""

    of: type[Table]
    columns: tuple[str, ...]

    def __post_init__(self) -> None:
        """Refuse a name that is not declared."""
        choose_columns(self.of, *self.columns)


@dataclass(frozen=True)
class PartitionNames:
    """By day what a table in the lake is named after there: all that it is made from."""

    of: type[Table]


@dataclass(frozen=True)
class PublishedQuery:
    """SQL that selects from the tables that this publish has written by then, and the Python type of each column."""

    sql: str
    columns: Mapping[str, type]


@dataclass(frozen=True)
class Resumed:
    """A published table that a function goes on with: of the days before the first that changed nothing is computed.

    The function is passed `first_day`, of stored tables the rows from then on, and `before`: of each value of the
    column `by` the highest published `counts` of earlier days, or None where there are none.
    """

    of: type[Table]
    by: str
    counts: tuple[str, ...]


Given = type[Table] | Handed
Source = Given | LandedInput
Taken = Source | TableInput | PartitionNames


# How the rows of a published table are reused between publishes. What the lake keeps says by its names and digests what
# it was made of.
@dataclass(frozen=True)
class SameValues:
    """Rows may be reused only while a column of another table is, key by key, as it was when they were published.

    `default`: the column whose value a key may have that is new, or no more there, without changing a row.
    """

    of: type[Table]
    value: str
    default: str

    def __post_init__(self) -> None:
        """Refuse a name that is not declared."""
        choose_columns(self.of, self.value, self.default)


@dataclass(frozen=True)
class ReuseByDay:
    """Rows of days whose inputs did not change are reused; only the others are computed.

    Args:
        dated: the column whose UTC day says of which day a row is.
        changed_by: what the rows of a day follow from: landed tables, evidence of the day, states of memories.
        is_onward: they follow from the days before, too: from the first day that changed on, all are computed.
        while_same: what all rows follow from besides.
        audits_new_by: the key column by which one row per key is asked of the days that changed alone, and of rows
            elsewhere with the same value; '': it is asked of all rows.
    """

    dated: str
    changed_by: tuple[Given, ...]
    is_onward: bool = False
    while_same: SameValues | None = None
    audits_new_by: str = ""


@dataclass(frozen=True)
class ReuseByDifference:
    """All rows are computed, and those of days that came out the same stay: to compare a row is cheaper than to write.

    `dated`: the column whose UTC day says of which day a row is.
    """

    dated: str


Reuse = ReuseByDay | ReuseByDifference


@dataclass(frozen=True, eq=False)
class Node:
    """What one function computes.

    Args:
        function: `module:name` of what computes it. Its parameters are the names in `inputs` and, where it has them,
            `params`, `as_of`, `today` (the UTC day of `as_of`, since 1970), `counted_as`. '': it is read, and
            nothing is computed.
        outputs: what it returns; several as a tuple, in this order.
        inputs: by parameter what it takes: a derived table or part of one, what a node hands, rows of a landed table.
            Several of one landed table are columns of one frame; of several landed tables, rows of one frame, with
            `landed_table`, and their event time as `occurred_at`.
        reads: what has its outputs already: the name of what the log as of a time has, planning a day found,
            or is installed.
        query: what has them in what is published by then.
        resumes: what its function goes on with.
        unless_empty: the parameter without whose rows no day is read.
        of_parts: the function that computes it where an input in buckets is too large to be held: it takes its parts.
        looked_up: columns that partitions of earlier releases lack: they are looked up in the landed rows.
        params: the params it reads, by their full names. One is passed as it is; of several each by the last part of
            its name.
        methods: the params that choose its methods, by their full names.
        grain: `day`: what it gives of a UTC day follows from the inputs of grain `day` of that day, and from the others
            whole. `whole`: all of it is computed at once.
        in_buckets: of grain `day`, what it gives of an interaction follows from that interaction and the memories of
            its project: of a large day it is found bucket by bucket (`evidence.buckets`), day × range of projects.
        is_in_lake: what it gives is kept in the lake, a file per day, and not itself published.
        expires: partitions in the lake may be deleted by age, for only other evidence is made from them.
        reuse: by published table how its rows are reused; of others all are written each night.
        stage: the line of the benchmark that it counts for.
    """

    function: str
    outputs: tuple[Given, ...]
    inputs: Mapping[str, Taken | tuple[Taken, ...]]
    reads: str = ""
    query: PublishedQuery | None = None
    resumes: Resumed | None = None
    unless_empty: str = ""
    of_parts: str = ""
    looked_up: tuple[str, ...] = ()
    params: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    grain: Grain = "whole"
    in_buckets: bool = False
    is_in_lake: bool = False
    expires: bool = False
    reuse: Mapping[type[Table], Reuse] = field(default_factory=dict)
    stage: Stage = "publish"
    name: str = field(init=False)

    def __post_init__(self) -> None:
        """Named after the function, or else after what it gives."""
        object.__setattr__(self, "name", self.function.rpartition(":")[2] or self.outputs[0].name)

    @property
    def taken(self) -> tuple[Source, ...]:
        """Everything it reads, in order."""
        each = (taken if isinstance(taken, tuple) else (taken,) for taken in self.inputs.values())
        whole = (one.of if isinstance(one, TableInput | PartitionNames) else one for some in each for one in some)
        return tuple(source for one in whole for source in (one, getattr(one, "keys", None)) if source is not None)

    @property
    def landed(self) -> tuple[LandedInput, ...]:
        """The landed rows that it reads."""
        return tuple(taken for taken in self.taken if isinstance(taken, LandedInput))

    @property
    def state(self) -> type[State] | None:
        """What it carries from night to night, if it does: its function is handed, as `before`, what was kept."""
        return next((table for table in self.tables if issubclass(table, State)), None)

    @property
    def tables(self) -> tuple[type[Table], ...]:
        """The tables among what it gives."""
        return tuple(given for given in self.outputs if isinstance(given, type))

    def select_params(self, params: Any) -> Any:  # noqa: ANN401 - the params of a run, and those that are declared here
        """What its function gets of the params, and no others: what is not declared cannot be read."""
        values = {name.rpartition(".")[2]: reduce(getattr, name.split("."), params) for name in self.params}
        return next(iter(values.values())) if len(values) == 1 else SimpleNamespace(**values)

    def method_ids(self, params: Any) -> list[str]:  # noqa: ANN401 - the params of a run, which are declared above
        """The methods that these params choose for it."""
        ids: list[str] = []
        for name in self.methods:
            choice: Any = reduce(getattr, name.split("."), params)
            ids += [choice] if isinstance(choice, str) else choice()
        return ids


class GraphError(ValueError):
    """Nodes that contradict each other; says which and how."""


def in_order(nodes: Iterable[Node]) -> tuple[Node, ...]:
    """The nodes, each behind those it takes something from; else as they are listed.

    Raises GraphError when two give the same, when nobody gives what one takes, or when they go round in a circle.
    """
    by_given: dict[Given, Node] = {}
    listed = list(nodes)
    for node in listed:
        for given in node.outputs:
            if given in by_given:
                message = f"{source_name(given)} is given by {by_given[given].name} and by {node.name}"
                raise GraphError(message)
            by_given[given] = node
    placed: dict[Node, None] = {}
    for node in listed:
        _place(node, by_given, placed, ())
    return tuple(placed)


def _place(node: Node, by_given: Mapping[Given, Node], placed: dict[Node, None], above: tuple[Node, ...]) -> None:
    if node in placed:
        return
    if node in above:
        circle = " from ".join(each.name for each in (*above[above.index(node) :], node))
        message = f"a circle: {circle}"
        raise GraphError(message)
    for taken in node.taken:
        if isinstance(taken, LandedInput):
            continue
        if taken not in by_given:
            message = f"{node.name} takes {source_name(taken)}, which nobody gives"
            raise GraphError(message)
        _place(by_given[taken], by_given, placed, (*above, node))
    placed[node] = None


def source_name(thing: Source) -> str:
    """What a table, what is handed, or a landed table is called."""
    return thing.of.name if isinstance(thing, LandedInput) else thing.name
