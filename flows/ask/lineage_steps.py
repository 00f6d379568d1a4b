"""What is landed and made, each with its sources: the graph as it is shown to people and programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from slowwave.flows.ask.connection import published_file
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.terminal import quote_shortened
from slowwave.transforms.core.node import Given, Handed, LandedInput, Node, Source, source_name
from slowwave.transforms.core.schema import table_comment
from slowwave.transforms.graph import BY_DAY, BY_DIFFERENCE, EVIDENCE, NODES, STATES
from slowwave.transforms.landing.ledger_tables import RunSteps

if TYPE_CHECKING:
    import duckdb

    from slowwave.transforms.params import Params

Kind = Literal["landed", "evidence", "state", "handed", "published", "room"]
KINDS: Mapping[str, str] = {
    "landed": "Landed: what producers deliver, with the columns that are read",
    "evidence": "Evidence: made of each day alone and kept in the lake",
    "state": "State: carried from night to night, and kept in the lake",
    "handed": "Handed on: made on the way, kept nowhere",
    "published": "Published: for `slowwave sql`",
    "room": "Rooms: the tables that the code in one folder of transforms/ makes",
}
_GIVEN_BY: Mapping[Given, Node] = {given: node for node in NODES for given in node.outputs}


@dataclass(frozen=True)
class LineageStep:
    """Something that is landed or made: of what, by what, how much of it the last publish had, and at what cost.

    `sources`: ids of steps, with the columns that are read of each; of what is made, all are. `reuse`: what of it a
    publish takes from an earlier one. `cpu_seconds`: of all that is made with it at once.
    """

    id: str
    name: str
    kind: Kind
    about: str
    sources: dict[str, tuple[str, ...]] = field(default_factory=dict)
    made_by: str = ""
    grain: str = ""
    reuse: str = ""
    methods: tuple[str, ...] = ()
    params: tuple[str, ...] = ()
    rows: int | None = None
    cpu_seconds: float | None = None


@dataclass(frozen=True)
class LastRun:
    """What the current publish noted: rows by published table, CPU seconds by node."""

    rows: dict[str, int] = field(default_factory=dict)
    cpu_seconds: dict[str, float] = field(default_factory=dict)


def lineage(table: str | None, params: Params, last: LastRun) -> list[LineageStep]:
    """The steps to `table`, each behind its sources, itself last; None: all tables, without what is handed on."""
    if table is None:
        order: list[Given] = [given for node in NODES for given in node.tables]
        sources = {given: list(_tables_behind(given)) for given in order}
    else:
        order = list(dict.fromkeys(_behind(_find_output(table))))
        sources = {given: list(_GIVEN_BY[given].taken) for given in order}
    landed = {taken.of.name: taken for given in order for taken in sources[given] if isinstance(taken, LandedInput)}
    steps = [LineageStep(_id(rows), name, "landed", table_comment(rows.of)) for name, rows in sorted(landed.items())]
    for given in order:
        node = _GIVEN_BY[given]
        kind = _kind(given)
        steps.append(
            LineageStep(
                id=_id(given),
                name=given.name,
                kind=kind,
                about=given.description if isinstance(given, Handed) else table_comment(given),
                sources=_merge_source_columns(sources[given]),
                made_by=node.function,
                grain="day, in buckets" if node.in_buckets else node.grain,
                reuse=_describe_reuse(given),
                methods=tuple(node.method_ids(params)),
                params=node.params,
                rows=last.rows.get(given.name) if kind != "handed" else None,
                cpu_seconds=last.cpu_seconds.get(node.name),
            )
        )
    return steps


def by_room(steps: Sequence[LineageStep]) -> list[LineageStep]:
    """The same, but all that the code of one room makes is one step, which `about` names the tables of."""
    room_of = {step.id: _room(step) for step in steps}
    found = [step for step in steps if step.kind == "landed"]
    for room in dict.fromkeys(room_of[step.id] for step in steps if step.kind != "landed"):
        made = [step for step in steps if room_of[step.id] == room]
        sources: dict[str, tuple[str, ...]] = {}
        for step in made:
            for source, names in step.sources.items():
                if room_of[source] != room:
                    sources[room_of[source]] = tuple(dict.fromkeys((*sources.get(room_of[source], ()), *names)))
        tables = ", ".join(dict.fromkeys(step.name for step in made))
        found.append(LineageStep(room, room.removeprefix("room_"), "room", tables, sources))
    return found


def _room(step: LineageStep) -> str:
    return step.id if step.kind == "landed" else f"room_{step.made_by.split('.')[2]}"


def _find_output(name: str) -> Given:
    """The table of that name, the published one where evidence is published too; or what is handed on."""
    of_name = [given for node in NODES for given in node.outputs if given.name == name]
    if of_name:
        return max(of_name, key=lambda given: _kind(given) == "published")
    names = [given.name for node in NODES for given in node.tables]
    message = (
        f"nothing is made that is called {quote_shortened(name)}: the tables are {', '.join(dict.fromkeys(names))}"
    )
    raise UserError(message)


def _behind(given: Given) -> Iterator[Given]:
    """Everything that is made for it, sources first, and itself; some of it more than once."""
    needed = {given}
    for node in reversed(NODES):
        if needed & set(node.outputs):
            needed |= {taken for taken in node.taken if not isinstance(taken, LandedInput)}
    return (one for node in NODES for one in node.outputs if one in needed)


def _tables_behind(given: Given) -> Iterator[Source]:
    """What it is made from, with that in place of what is only handed on."""
    for taken in _GIVEN_BY[given].taken:
        if isinstance(taken, Handed):
            yield from _tables_behind(taken)
        else:
            yield taken


def _kind(thing: Source) -> Kind:
    if isinstance(thing, LandedInput):
        return "landed"
    if isinstance(thing, Handed):
        return "handed"
    if thing in STATES:
        return "state"
    return "evidence" if thing in EVIDENCE else "published"


def _describe_reuse(given: Given) -> str:
    """What of it a publish takes from an earlier one."""
    if isinstance(given, Handed):
        return ""
    if given in EVIDENCE:
        return "a day is built when its inputs change"
    if given in STATES:
        return "parts with unchanged inputs are reused"
    if given in BY_DAY:
        is_onward = BY_DAY[given].is_onward
        return f"rows {'before the first changed day' if is_onward else 'of unchanged days'} are reused"
    return "rows of days that come out the same stay" if given in BY_DIFFERENCE else "written whole each night"


def _id(thing: Source) -> str:
    return f"{_kind(thing)}_{source_name(thing)}"


def _merge_source_columns(sources: Sequence[Source]) -> dict[str, tuple[str, ...]]:
    """The ids of what is read, each once, with the columns of landed tables."""
    found: dict[str, tuple[str, ...]] = {}
    for taken in sources:
        names = taken.columns if isinstance(taken, LandedInput) else ()
        found[_id(taken)] = tuple(dict.fromkeys((*found.get(_id(taken), ()), *names)))
    return found


def last_run(settings: Settings) -> LastRun:
    """What is known of the current publish; nothing where there is none."""
    path = published_file(settings)
    if path is None:
        return LastRun()
    import duckdb  # slow to load

    with duckdb.connect(path, read_only=True) as connection:
        found = connection.execute("SELECT table_hashes FROM runs WHERE run_id = $run", {"run": path.stem}).fetchall()
        costs = _costs(connection)
    hashes = (told.partition("=") for told in (found[0][0] if found else []))
    return LastRun({name: int(of_rows.partition("-")[0]) for name, _, of_rows in hashes}, costs)


def _costs(connection: duckdb.DuckDBPyConnection) -> dict[str, float]:
    """CPU seconds by node; nothing where the file was published by a release that did not note them."""
    is_noted = "SELECT 1 FROM duckdb_tables() WHERE table_name = $name"
    if not connection.execute(is_noted, {"name": RunSteps.name}).fetchall():
        return {}
    return dict(connection.execute("SELECT step, cpu_seconds FROM run_steps").fetchall())
