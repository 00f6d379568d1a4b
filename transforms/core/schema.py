"""One declaration per table, and everything that follows from it.

A table is a pydantic model whose fields are made with :func:`column`. Polars dtypes, DuckDB DDL with comments, the JSON
Schema for producers and the documentation are derived here; nothing else in the project states a column's type again.
"""

from __future__ import annotations

import types
import typing
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field

from slowwave.transforms.core.blank import NOT_BLANK_JSON
from slowwave.transforms.core.vocabularies import LandedTable

if TYPE_CHECKING:  # Polars is slow to load, and who only asks what is declared needs none
    import polars as pl

Kind = Literal["text", "integer", "number", "boolean", "time", "day", "json", "texts", "structs"]


class Table(BaseModel):
    """Base of every table. The docstring describes the table, `key` names its key columns (never NULL).

    `stored_key`, where it is not empty, tells rows apart as the lake's ledger stores them, several for one key.
    """

    # declarations are read, rows are never made of them: what would check one is not built at every start
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    name: ClassVar[str]
    key: ClassVar[tuple[str, ...]]
    stored_key: ClassVar[tuple[str, ...]] = ()


class Landed(Table):
    """Base of a landed table: `event_time` names the column whose UTC day is the partition.

    `read_as`: what that column is called in tables that are made from it, where that is another name.
    By the declarations of its columns `state` are those that are carried from one version to the next, `of_change`
    those that belong to one version alone, without its key and `extra`: none, where none is carried.
    """

    event_time: ClassVar[str]
    read_as: ClassVar[str] = ""
    state: ClassVar[tuple[str, ...]] = ()
    of_change: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def __pydantic_init_subclass__(cls, **options: object) -> None:
        """Work out `state` and `of_change`."""
        super().__pydantic_init_subclass__(**options)
        cls.state = tuple(c.name for c in columns(cls) if c.carried)
        alone = (c.name for c in producer_columns(cls) if not c.carried and c.name not in (cls.key[0], "extra"))
        cls.of_change = tuple(alone) if cls.state else ()


class State(Table):
    """Base of what is carried from night to night, in parts.

    It has the columns part and made_of, a digest of all that the part is computed from: if that is as it was, the part
    is taken over.
    """


class Json:
    """Marks a text column that holds one JSON value."""


@dataclass(frozen=True)
class ColumnEdit:
    """How a person gives a column another value: an option of a command.

    `help`: what the option is for. `option`: its name, where that is not the column's. `metavar`: what stands for the
    value. `choices`: the values it takes, where these are not all that the column has.
    """

    help: str
    option: str = ""
    metavar: str | None = None
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Carried:
    """What becomes of a column from one version of a row to the next: it holds until a version states another value.

    `first`: the value as long as no version states one. `is_empty_a_value`: '' is a text as any other; else '' clears
    the text, which is then `first` again. What is no text is cleared by its name in `clears`. `is_clearable`: a person
    may clear it by a command. `edit`: a person may give it a value. `label`: what it is called where its name would not
    be understood. `is_fact`: a line of its own on the memory's page, where no sentence says it.
    """

    first: Any = None
    is_empty_a_value: bool = False
    is_clearable: bool = False
    edit: ColumnEdit | None = None
    label: str = ""
    is_fact: bool = False


@dataclass(frozen=True)
class Column:
    """What a declaration says about one column."""

    name: str
    kind: Kind
    description: str
    unit: str | None
    nullable: bool
    required: bool
    internal: bool
    strict: bool
    is_lenient: bool
    since: int
    was: type | None
    old_name: str | None
    carried: Carried | None
    counts: str | None
    ids_of: LandedTable | None
    default: Any
    low: float | None
    high: float | None
    choices: tuple[str, ...]
    annotation: Any

    @property
    def dtype(self) -> pl.DataType:
        """As Polars has it."""
        return _polars_type(self.annotation)

    @property
    def duckdb_type(self) -> str:
        """As DuckDB has it."""
        return _duckdb_type(self.annotation)


def column(
    description: str,
    *,
    default: Any = ...,  # noqa: ANN401 - a column's default has the column's type
    unit: str | None = None,
    ge: float | None = None,
    le: float | None = None,
    required: bool = False,
    internal: bool = False,
    strict: bool = False,
    is_lenient: bool = False,
    named: str | None = None,
    since: int = 1,
    was: type | None = None,
    old_name: str | None = None,
    carried: Carried | None = None,
    counts: str | None = None,
    ids_of: LandedTable | None = None,
) -> Any:  # noqa: ANN401 - stands where pydantic's Field stands
    """Declare a column.

    `required`: a producer must give it. `internal`: written by Slowwave, never read from a producer. `strict`: only
    text is text (numbers and booleans are refused instead of being taken as their text). `ge`, `le` bound a number.
    `is_lenient`: a producer's value that does not fit stays in `extra`, where a field stood before it was declared;
    of others the row is refused. `named`: its name, where a declaration uses that for something else.

    `since`: the lake format that has it first; a column of an existing table is NULL in older files, or its `default`
    where it is never NULL, and a producer's was in `extra` (see `schema_changes`). `was`: int, of what became a float.
    `old_name`: what a published column was called, by which it can still be read until the release after this one.

    `carried`: a version of the row that does not state it leaves it as it was. `counts`: what `slowwave why` calls the
    rows that it counts, which it lists. `ids_of`: the landed table whose ids it holds, where its name does not say so
    (see `ids_of`).
    """
    facts = {"unit": unit, "required": required, "internal": internal, "strict": strict, "named": named}
    facts |= {"since": since, "was": was, "is_lenient": is_lenient, "old_name": old_name}
    facts |= {"carried": carried, "counts": counts, "ids_of": ids_of}
    return Field(default, description=description, ge=ge, le=le, json_schema_extra={"slowwave": facts})


# As DuckDB and Polars name them.
_SCALARS: dict[type, tuple[Kind, str, str]] = {
    str: ("text", "VARCHAR", "String"),
    bool: ("boolean", "BOOLEAN", "Boolean"),
    int: ("integer", "BIGINT", "Int64"),
    float: ("number", "DOUBLE", "Float64"),
    datetime: ("time", "TIMESTAMP", "Datetime"),
    date: ("day", "DATE", "Date"),
}


def _item(annotation: Any) -> Any:  # noqa: ANN401 - an annotation
    """What a list holds; None for anything else."""
    return get_args(annotation)[0] if get_origin(annotation) is list else None


def _fields(item: Any) -> dict[str, Any]:  # noqa: ANN401 - an annotation
    """The annotations of a struct's fields; none for anything else."""
    if not (isinstance(item, type) and issubclass(item, BaseModel)):
        return {}
    return {name: _without_none(field.annotation) for name, field in item.model_fields.items()}


def _kind(annotation: Any) -> Kind:  # noqa: ANN401 - an annotation
    if get_origin(annotation) is Literal:
        return "text"
    item = _item(annotation)
    if item is None:
        return _SCALARS[annotation][0]
    return "structs" if _fields(item) else "texts"


def _duckdb_type(annotation: Any) -> str:  # noqa: ANN401 - an annotation
    item = _item(annotation)
    if item is not None:
        return f"{_duckdb_type(item)}[]"
    fields = _fields(annotation)
    if fields:
        return "STRUCT(" + ", ".join(f'"{name}" {_duckdb_type(each)}' for name, each in fields.items()) + ")"
    return _SCALARS[str if get_origin(annotation) is Literal else annotation][1]


def _polars_type(annotation: Any) -> pl.DataType:  # noqa: ANN401 - an annotation
    import polars as pl

    item = _item(annotation)
    if item is not None:
        return pl.List(_polars_type(item))
    fields = _fields(annotation)
    if fields:
        return pl.Struct({name: _polars_type(each) for name, each in fields.items()})
    return getattr(pl, _SCALARS[str if get_origin(annotation) is Literal else annotation][2])()


def _without_none(annotation: Any) -> Any:  # noqa: ANN401 - an annotation
    if get_origin(annotation) in {typing.Union, types.UnionType}:
        (annotation,) = [arg for arg in get_args(annotation) if arg is not type(None)]
    return annotation


@cache
def columns(table: type[Table]) -> tuple[Column, ...]:
    """The columns of `table`, in declaration order."""
    found = []
    for name, field in table.model_fields.items():
        nullable = type(None) in get_args(field.annotation)
        annotation = _without_none(field.annotation)
        kind = _kind(annotation)
        if any(isinstance(mark, type) and issubclass(mark, Json) for mark in field.metadata):
            kind = "json"
        extra = field.json_schema_extra
        facts: Any = extra.get("slowwave", {}) if isinstance(extra, dict) else {}
        bounds: dict[str, float] = {}
        for mark in field.metadata:
            for side in ("ge", "le"):
                if hasattr(mark, side):
                    bounds[side] = getattr(mark, side)
        found.append(
            Column(
                name=facts.get("named") or name,
                kind=kind,
                description=field.description or "",
                unit=facts.get("unit"),
                nullable=nullable,
                required=facts.get("required", False),
                internal=facts.get("internal", False),
                strict=facts.get("strict", False),
                is_lenient=facts.get("is_lenient", False),
                since=facts.get("since", 1),
                was=facts.get("was"),
                old_name=facts.get("old_name"),
                carried=facts.get("carried"),
                counts=facts.get("counts"),
                ids_of=facts.get("ids_of"),
                default=None if field.is_required() else field.get_default(call_default_factory=True),
                low=bounds.get("ge"),
                high=bounds.get("le"),
                choices=tuple(get_args(annotation)) if get_origin(annotation) is Literal else (),
                annotation=annotation,
            )
        )
    return tuple(found)


def choose_columns(table: type[Table], *names: str) -> tuple[str, ...]:
    """Return the names of some columns of `table`: those that a function reads, or that a screen shows.

    Raises ValueError for a name that is not declared, so that none outlives its column.
    """
    unknown = set(names) - {c.name for c in columns(table)}
    if unknown:
        message = f"{table.name} has no column {min(unknown)}"
        raise ValueError(message)
    return names


@cache
def producer_columns(table: type[Table]) -> tuple[Column, ...]:
    """The columns a producer may give."""
    return tuple(c for c in columns(table) if not c.internal)


@cache
def polars_schema(table: type[Table]) -> pl.Schema:
    """Polars names and dtypes of `table`."""
    import polars as pl

    return pl.Schema({c.name: c.dtype for c in columns(table)})


def computed_schema(table: type[Table]) -> pl.Schema:
    """The columns of a published table before the run and its `as_of` are stamped on."""
    import polars as pl

    return pl.Schema({name: dtype for name, dtype in polars_schema(table).items() if name not in ("run_id", "as_of")})


def sql_text(text: str) -> str:
    """A text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def comment(col: Column) -> str:
    """A column's description with what it was called, and its unit."""
    said = f"{col.description} Formerly {col.old_name}." if col.old_name else col.description
    return f"{said} [{col.unit}]" if col.unit else said


def table_comment(table: type[Table]) -> str:
    """A table's description, on one line."""
    return " ".join((table.__doc__ or "").split())


def duckdb_ddl(table: type[Table]) -> list[str]:
    """DuckDB statements that create `table` with its comments. Keys and non-nullable columns are NOT NULL.

    Old names of columns are generated columns, which hold nothing.
    """
    lines = []
    for c in columns(table):
        line = f'"{c.name}" {c.duckdb_type}'
        lines.append(line if c.nullable else line + " NOT NULL")
        if c.old_name:
            lines.append(f'"{c.old_name}" {c.duckdb_type} GENERATED ALWAYS AS ("{c.name}") VIRTUAL')
    statements = [f'CREATE TABLE "{table.name}" (' + ", ".join(lines) + ")"]
    statements.append(f'COMMENT ON TABLE "{table.name}" IS {sql_text(table_comment(table))}')
    comments = {c.name: comment(c) for c in columns(table)}
    comments |= {c.old_name: f"Old name of {c.name}, until the next release." for c in columns(table) if c.old_name}
    statements += [f'COMMENT ON COLUMN "{table.name}"."{name}" IS {sql_text(said)}' for name, said in comments.items()]
    return statements


_JSON_TYPES: dict[Kind, dict[str, Any]] = {
    "text": {"type": ["string", "number", "boolean"]},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
    "time": {"type": ["string", "number"]},
    "day": {"type": "string", "format": "date"},
    "json": {"type": ["object", "array", "string", "number", "boolean"]},
    "texts": {"type": "array", "items": {"type": ["string", "number", "boolean"]}},
}


def json_schema(table: type[Table]) -> dict[str, Any]:
    """JSON Schema (2020-12) of one row: what a producer may send for a landed table, of others what is published."""
    landed = issubclass(table, Landed)
    properties: dict[str, Any] = {}
    for c in producer_columns(table) if landed else columns(table):
        if c.kind == "structs":
            fields = {"id": {"type": "string"}, "rank": {"type": "integer"}, "score": {"type": "number"}}
            one: dict[str, Any] = {"type": "array", "items": {"type": "object", "properties": fields}}
        else:
            one = dict(_JSON_TYPES[c.kind])
        if c.choices:
            one = {"enum": list(c.choices)}
        elif c.strict or (c.kind == "text" and not landed):
            one = {"type": "string"}
        if c.strict:
            one["pattern"] = NOT_BLANK_JSON
        one["description"] = comment(c)
        if c.low is not None:
            one["minimum"] = c.low
        if c.high is not None:
            one["maximum"] = c.high
        if (c.nullable or landed) and not c.required and "type" in one:
            given = one["type"] if isinstance(one["type"], list) else [one["type"]]
            one["type"] = [*given, "null"]
        if c.default is not None and landed:
            one["default"] = c.default
        properties[c.name] = one
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": table.name,
        "description": table_comment(table),
        "type": "object",
        "properties": properties,
        "required": [c.name for c in columns(table) if (c.required if landed else not c.nullable)],
        "additionalProperties": landed,
    }


def documentation(table: type[Table]) -> str:
    """Markdown: the table's description, its key and one line per column."""
    lines = [f"## {table.name}", "", table_comment(table), "", f"Key: `{', '.join(table.key)}`.", ""]
    lines += ["| column | type | NULL | meaning |", "|---|---|---|---|"]
    lines += [
        f"| `{c.name}` | {c.duckdb_type} | {'yes' if c.nullable else 'never'} | {comment(c)}"
        + (f" One of {', '.join(f'`{choice}`' for choice in c.choices)}." if c.choices else "")
        + " |"
        for c in columns(table)
    ]
    return "\n".join(lines) + "\n"
