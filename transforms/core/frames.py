"""Frames that say which declared table their rows are of, so that one table cannot be taken for another.

`Frame[MemoryHealth]` is a DataFrame and `Lazy[MemoryHealth]` a LazyFrame when it runs: only the type checker keeps them
apart. What leaves the columns alone (`filter`, `sort`, `lazy`, `collect`, …) keeps the declaration; what is made in any
other way is a plain frame again until `framed` has looked at its columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Generic, TypeVar, cast, overload

import polars as pl

from slowwave.transforms.core.schema import Table, computed_schema, polars_schema

T = TypeVar("T", bound=Table)

# What is written beside the columns of a published table when it is written.
STAMPED = ("run_id", "as_of")
_DAY = "day"

if TYPE_CHECKING:

    class Frame(pl.DataFrame, Generic[T]):
        """Rows of a declared table."""

        def clear(self, n: int = 0) -> Frame[T]: ...
        def filter(self, *predicates: object, **constraints: object) -> Frame[T]: ...
        def head(self, n: int = 5) -> Frame[T]: ...
        def lazy(self) -> Lazy[T]: ...
        def slice(self, offset: int, length: int | None = None) -> Frame[T]: ...
        def sort(self, *by: object, **options: object) -> Frame[T]: ...

    class Lazy(pl.LazyFrame, Generic[T]):
        """Rows of a declared table, not yet computed."""

        # in the background it would be a query; nobody here collects so
        def collect(self, *args: object, **options: object) -> Frame[T]: ...  # pyright: ignore[reportIncompatibleMethodOverride]
        def filter(self, *predicates: object, **constraints: object) -> Lazy[T]: ...
        def sort(self, *by: object, **options: object) -> Lazy[T]: ...

else:

    class Frame:
        """A DataFrame; the declaration is kept for whoever reads the annotation."""

        def __class_getitem__(cls, table: type[Table]) -> object:
            """An annotation of Polars' own type, with the table beside it."""
            return Annotated[pl.DataFrame, table]

    class Lazy:
        """A LazyFrame; as `Frame`."""

        def __class_getitem__(cls, table: type[Table]) -> object:
            """An annotation of Polars' own type, with the table beside it."""
            return Annotated[pl.LazyFrame, table]


class FrameError(TypeError):
    """A frame without the columns that its table is declared with; says which and how."""


@overload
def framed(table: type[T], frame: pl.DataFrame, *, partial: bool = False) -> Frame[T]: ...
@overload
def framed(table: type[T], frame: pl.LazyFrame, *, partial: bool = False) -> Lazy[T]: ...
def framed(table: type[T], frame: pl.DataFrame | pl.LazyFrame, *, partial: bool = False) -> Frame[T] | Lazy[T]:
    """`frame` itself, once its columns are known to be those of `table`. No row is looked at.

    Args:
        table: what it should be rows of.
        frame: its columns may come in any order. Those of a published table may lack `run_id` and `as_of`, which are
            stamped on last; those of a table that is kept by day may have the `day` of their partition. Of a lazy
            frame the schema is worked out, which it keeps for when it is collected.
        partial: columns may be missing, because whoever takes the frame reads no others.

    Raises FrameError, which names the table and every column that is missing, not declared, or of another dtype.
    """
    declared = polars_schema(table)
    had = frame.schema if isinstance(frame, pl.DataFrame) else frame.collect_schema()
    if had != declared:
        missing = [] if partial else [name for name in declared if name not in had and name not in STAMPED]
        extra = [name for name in had if name not in declared and not _is_partition(table, name, had)]
        other = {name: dtype for name, dtype in had.items() if name in declared and declared[name] != dtype}
        wrong = [f"{name} is {dtype} instead of {declared[name]}" for name, dtype in other.items()]
        said = {"columns are missing": missing, "columns are not declared": extra, "dtypes differ": wrong}
        found = [f"{what}: {', '.join(names)}" for what, names in said.items() if names]
        if found:
            message = f"not a frame of {table.name}: {'; '.join(found)}"
            raise FrameError(message)
    return cast("Frame[T]", frame)


@overload
def selected(table: type[T], frame: pl.DataFrame) -> Frame[T]: ...
@overload
def selected(table: type[T], frame: pl.LazyFrame) -> Lazy[T]: ...
def selected(table: type[T], frame: pl.DataFrame | pl.LazyFrame) -> Frame[T] | Lazy[T]:
    """The columns of `table`, but for those stamped on last, of a frame that has others besides.

    Raises FrameError where one is missing or of another dtype.
    """
    had = frame.columns if isinstance(frame, pl.DataFrame) else frame.collect_schema().names()
    return framed(table, frame.select([name for name in computed_schema(table) if name in had]))


def _is_partition(table: type[Table], name: str, had: pl.Schema) -> bool:
    """Whether a column is the day of the partition, which no table that is kept by day has among its columns."""
    return name == _DAY and had[name] == pl.Date and not set(STAMPED) & table.model_fields.keys()


def empty(table: type[T]) -> Frame[T]:
    """A frame of `table` with no rows."""
    return cast("Frame[T]", pl.DataFrame(schema=polars_schema(table)))


def conform(table: type[T], frame: pl.LazyFrame) -> Lazy[T]:
    """`frame` with exactly the columns and dtypes of `table`; columns it lacks are NULL."""
    had, wanted = frame.collect_schema(), polars_schema(table)
    if had == wanted:
        return cast("Lazy[T]", frame)

    def typed_column(name: str, dtype: pl.DataType) -> pl.Expr:
        if had.get(name) == dtype:
            return pl.col(name)
        return (pl.col(name) if name in had else pl.lit(None)).cast(dtype).alias(name)

    return cast("Lazy[T]", frame.select([typed_column(name, dtype) for name, dtype in wanted.items()]))
