"""Answers of the cookbook in the small measure that a report needs: the first rows, and how many there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import duckdb
import polars as pl
import polars.selectors as cs
from markupsafe import Markup

from slowwave.dashboards.cookbook.cookbook import cookbook
from slowwave.dashboards.links import command_line
from slowwave.dashboards.templates import cell_text, table_html
from slowwave.dashboards.words import interval, part
from slowwave.flows.kernel.terminal import shorten_to_width

ALL = "9223372036854775807"  # of a recipe's own `limit`
_LONGEST_TEXT = 160
_SHARES = ("0-1", "probability")
_SMALL = 0.001
_TEXTS = ("content", "text", "example", "pattern", "strategy", "better_alternative", "last_source")


# DuckDB's sums of integers arrive as decimals without places, its counts in whatever width
_WHOLE = cs.integer() | cs.by_dtype(pl.Decimal(38, 0))
_DTYPES: dict[str, type[pl.DataType] | pl.DataType] = {
    **dict.fromkeys(["TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"], pl.Int64),
    **dict.fromkeys(["UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"], pl.Int64),
    "VARCHAR": pl.String,
    "VARCHAR[]": pl.List(pl.String),
    "BOOLEAN": pl.Boolean,
    "DOUBLE": pl.Float64,
    "DATE": pl.Date,
    "TIMESTAMP": pl.Datetime("us"),
}


@dataclass(frozen=True)
class ShownTable:
    """A table, and the command that answers the same question whole."""

    html: Markup
    command: str


class Answers:
    """The cookbook, asked of one serving file.

    Every method raises duckdb.Error where the file lacks a table or column that a recipe needs.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self._recipes = cookbook()

    def rows(self, name: str, first: int, **params: str) -> pl.DataFrame:
        """The first rows of an answer, in its order; integers are Int64, columns as in the recipe's header."""
        # a recipe's own order is kept by the LIMIT around it
        return self._run_query(f"SELECT * FROM ({self._recipes[name].sql}) LIMIT {first:d}", name, params)  # noqa: S608 - a recipe

    def chosen_rows(self, name: str, first: int, condition: str, order: str, **params: str) -> pl.DataFrame:
        """Return the first rows of an answer that fit a condition, in another order; both are SQL of its columns."""
        sql = self._recipes[name].sql
        query = f"SELECT * FROM ({sql}) WHERE {condition} ORDER BY {order} LIMIT {first:d}"  # noqa: S608 - a recipe
        return self._run_query(query, name, params)

    def count(self, name: str, **params: str) -> int:
        """How many rows an answer has."""
        return self._run_query(f"SELECT count(*) AS rows FROM ({self._recipes[name].sql})", name, params).item()  # noqa: S608 - a recipe

    def counts(self, name: str, *columns: str, counted: str = "count(*)", **params: str) -> pl.DataFrame:
        """How many rows of an answer have which values: `columns` (names, or SQL of them) and `rows`, most first.

        `counted`: the SQL of what stands in `rows` in place of how many there are.
        """
        listed = ", ".join(columns)
        query = f"SELECT {listed}, {counted} AS rows FROM ({self._recipes[name].sql}) GROUP BY {listed}"  # noqa: S608 - a recipe
        return self._run_query(f"{query} ORDER BY rows DESC, {listed}", name, params)

    def table(
        self,
        frame: pl.DataFrame,
        name: str,
        caption: str,
        columns: Sequence[str] = (),
        labels: Mapping[str, str] | None = None,
        **params: str,
    ) -> ShownTable:
        """Rows of an answer as a table, long texts cut and tiny shares in words, with the command that gives all."""
        texts = [column for column in _TEXTS if column in frame.columns]
        cut = frame.with_columns(
            pl.col(column).map_elements(lambda text: shorten_to_width(text, _LONGEST_TEXT), return_dtype=pl.String)
            for column in texts
        )
        shares = [each.name for each in self._recipes[name].columns if each.unit in _SHARES]
        cut = cut.with_columns(_format_shares(cut[share]) for share in shares if cut.schema.get(share) == pl.Float64)
        html = table_html(cut, self._recipes[name], caption=caption, columns=columns, labels=labels)
        return ShownTable(html, self.command(name, **params))

    def command(self, name: str, **params: str) -> str:
        """The command that answers a question whole."""
        return command_line("sql", name, param=[f"{param}={value}" for param, value in sorted(params.items())])

    def _run_query(self, query: str, name: str, params: Mapping[str, str]) -> pl.DataFrame:
        defaults = {param: default for param, default in self._recipes[name].params.items() if default is not None}
        return query_frame(self._connection, query, {**defaults, **params})


def query_frame(connection: duckdb.DuckDBPyConnection, query: str, params: Mapping[str, str]) -> pl.DataFrame:
    """What a query finds, whole numbers as Int64."""
    found = connection.execute(query, params)  # a relation would be planned twice
    types = {name: str(dtype) for name, dtype, *_ in found.description or ()}
    rows = found.fetchall()  # to the end: nothing else can be asked before
    if not _DTYPES.keys() >= set(types.values()):
        return connection.sql(query, params=params).pl().with_columns(_WHOLE.cast(pl.Int64))
    # loads neither pyarrow nor numpy, which takes longer than a report's rows
    schema = {name: _DTYPES[dtype] for name, dtype in types.items()}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _format_shares(shares: pl.Series) -> pl.Series:
    """Shares as they are, or all as text where one is too small to be read as a decimal fraction."""
    is_tiny = shares.abs().is_between(0, _SMALL, closed="none")
    if not is_tiny.any():
        return shares
    return pl.Series(
        shares.name,
        [
            cell_text(value) if not tiny else "below 0.001" if value > 0 else "above −0.001"
            for value, tiny in zip(shares, is_tiny, strict=True)
        ],
    )


def with_interval(frame: pl.DataFrame, column: str, write: Callable[[float], str] = part) -> pl.DataFrame:
    """`frame` with an estimate and its interval as one text, `0.60 (0.41–0.78)`, in place of the estimate."""
    texts = [
        None
        if value is None
        else write(value) + (f" ({interval(low, high, write)})" if None not in (low, high) else "")
        for value, low, high in frame.select(column, f"{column}_low", f"{column}_high").iter_rows()
    ]
    return frame.with_columns(pl.Series(column, texts, dtype=pl.String))
