"""`slowwave inspect schema --views`: SQL with which DuckDB alone, without Slowwave, reads the lake as Slowwave does.

The views read the lake's folders whenever they are asked: what lands later, and the next publish, is seen. What is in
the rows never gets into the SQL.
"""

# ruff: noqa: S608 - a text gets into the SQL by `sql_text` alone, and all texts are our own but the lake's folder

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.terminal import quote_shortened, terminal_safe
from slowwave.flows.lake.checked_files import FileChecks
from slowwave.flows.lake.lake import Lake
from slowwave.flows.lake.sql import partition_sql, shown_column_sql
from slowwave.transforms.core.blank import NOT_BLANK
from slowwave.transforms.core.schema import Column, Landed, Table, columns, comment, sql_text, table_comment
from slowwave.transforms.core.times import (
    EARLIEST_US,
    EPOCH_MICROSECONDS_FROM,
    EPOCH_MILLISECONDS_FROM,
    EPOCH_NANOSECONDS_BELOW,
    EPOCH_NANOSECONDS_FROM,
    ISO,
    LATEST_US,
    NUMBER,
    WHOLE_NUMBER,
    ZERO_TIMES,
)
from slowwave.transforms.evidence.tables import DayInputs
from slowwave.transforms.graph import EVIDENCE
from slowwave.transforms.landing.coerce import holds_ids
from slowwave.transforms.landing.decisions_table import Decisions
from slowwave.transforms.landing.ledger_tables import CheckedFiles, Runs
from slowwave.transforms.landing.schema_changes import from_extra
from slowwave.transforms.landing.set_aside import LEAVE_IN, LEAVE_OUT, checks_digest
from slowwave.transforms.landing.tables import LANDED

_DAYS = "day=[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]/*.parquet"
_NOW = "make_timestamp(epoch_us(now()))"
_HEADER = """\
-- The lake {lake}
-- as views for DuckDB 2.0, which needs nothing else of Slowwave; written by `slowwave inspect schema --views`.
--
--   interactions, outcomes, memories   the winning versions: one row per key, none that is set aside
--   interactions_log, ...              every version
--   {evidence}
--                                      the evidence of the last publish, by `day`; before the first, of backfills
--
-- They read the folders when they are asked: what lands later, and the next publish, is seen. A table without any file
-- when this was written has no rows until it is written again{without}.
"""


def lake_views_sql(root: Path) -> str:
    """SQL that makes the views of the lake at `root` in DuckDB.

    Raises UserError where there is no lake, nothing has landed, a newer version wrote it, or DuckDB cannot be told of
    its folder.
    """
    if not root.is_dir():
        message = f"there is no lake in {root}: name one with --lake, or land something with `slowwave land PATH`"
        raise UserError(message)
    lake = Lake(root.absolute())
    lake.check_format()
    if not any(lake.files(table.name) for table in LANDED):
        message = f"the lake in {root} holds no rows: land some with `slowwave land PATH`"
        raise UserError(message)
    return _LakeViews(lake).sql()


class _LakeViews:
    def __init__(self, lake: Lake) -> None:
        self._lake = lake
        self._root = _pattern(lake.root)
        self._checks = FileChecks(lake)
        self._without: list[str] = []

    def sql(self) -> str:
        views = []
        for table in LANDED:
            views.append(_view(f"{table.name}_log", table, self._log(table)))
            views.append(_view(table.name, table, self._winning(table)))
        views += [_view(table.name, table, self._evidence(table), "day") for table in EVIDENCE]
        without = f" (here {', '.join(dict.fromkeys(self._without))})" if self._without else ""
        header = _HEADER.format(
            lake=terminal_safe(str(self._lake.root)),
            evidence=", ".join(table.name for table in EVIDENCE),
            without=without,
        )
        return "\n".join([header, *views])

    # ------------------------------------------------------------------------------------------------ landed rows

    def _log(self, table: type[Landed]) -> str:
        return f"{self._landed_rows_sql(table)}\nQUALIFY row_number() OVER (PARTITION BY row_hash) = 1"

    def _winning(self, table: type[Landed]) -> str:
        key = ", ".join(f'"{name}"' for name in table.key)
        return (
            f"FROM (\n{self._landed_rows_sql(table)}\n)\n"
            f'WHERE "{table.event_time}" < {_NOW} AND recorded_at < {_NOW}\n'
            f"AND row_hash NOT IN (\n{self._set_aside(table)}\n)\n"
            f"QUALIFY row_number() OVER (PARTITION BY {key} ORDER BY recorded_at DESC, row_hash DESC) = 1"
        )

    def _landed_rows_sql(self, table: type[Landed]) -> str:
        """The rows of all files, as declared now; one that stands in two files twice."""
        stood = from_extra(table)
        names = [f'"{c.name}"' for c in columns(table)]
        return self._rows(table, table.name) if not stood else _with_extra(self._rows(table, table.name), stood, names)

    def _set_aside(self, table: type[Landed]) -> str:
        """The hashes of rows that fail a check, by what nights found out and by what was found now, or are left out."""
        files = [file for of_day in self._lake.files(table.name).values() for file in of_day]
        now = self._checks.find_failed_rows(table, self._checks.unknown(table, files))["row_hash"].unique().sort()
        found = [f"SELECT unnest([{', '.join(map(sql_text, now))}]::VARCHAR[])"]
        checked = self._rows(CheckedFiles, CheckedFiles.name)
        found.append(
            f"SELECT unnest(list_transform(failed, lambda one: one.row_hash)) FROM (\n{checked}\n)\n"
            f"WHERE checks = {sql_text(checks_digest())} AND landed_table = {sql_text(table.name)}"
        )
        decisions = self._rows(Decisions, Decisions.name)
        found.append(
            "SELECT unnest(json_extract_string(\"values\", '$.rows[*].row_hash')) FROM (\n"
            f'SELECT command, target, "values" FROM (\n{decisions}\n)\n'
            f"WHERE command IN ({sql_text(LEAVE_OUT)}, {sql_text(LEAVE_IN)})\n"
            "QUALIFY row_number() OVER (PARTITION BY target ORDER BY decided_at DESC, decision_id DESC) = 1\n"
            f") WHERE command = {sql_text(LEAVE_OUT)} AND split_part(target, ':', 1) = {sql_text(table.name)}"
        )
        return "\nUNION ALL ".join(found)

    # --------------------------------------------------------------------------------------------------- evidence

    def _partitions(self, table: type[Table]) -> str:
        """Day and name of the partitions of the last publish; of backfills, where nothing is published."""
        runs, inputs = self._rows(Runs, Runs.name), self._rows(DayInputs, DayInputs.name)
        return (
            f"WITH built AS (\n"
            "SELECT DISTINCT run_id, kind, status FROM (\n"
            f"{runs}\n) WHERE kind IN ('nightly', 'backfill') AND status IN "
            "('published', 'published_incomplete', 'built')\n"
            "), last AS (SELECT max(run_id) AS run_id FROM built WHERE kind = 'nightly')\n"
            f"SELECT day, {partition_sql(table.name)} AS partition FROM (\n"
            f"{inputs}\n) SEMI JOIN built USING (run_id)\n"
            "WHERE landed_table = 'interactions' AND fingerprint <> ''\n"
            "AND run_id = coalesce((SELECT run_id FROM last), run_id)\n"
            "QUALIFY row_number() OVER (PARTITION BY day ORDER BY run_id DESC) = 1"
        )

    def _evidence(self, table: type[Table]) -> str:
        day = r"CAST(regexp_extract(filename, 'day=([0-9-]{10})/[^/]*$', 1) AS DATE) AS day"
        rows = self._rows(table, f"evidence/{table.name}", [day, "parse_filename(filename, true) AS partition"])
        named = self._partitions(table)
        return f"SELECT * EXCLUDE (partition) FROM (\n{rows}\n) SEMI JOIN (\n{named}\n) USING (day, partition)"

    # -------------------------------------------------------------------------------------------------------- files

    def _rows(self, table: type[Table], folder: str, more: Sequence[str] = ()) -> str:
        """The rows of a table's files with the declared columns, whichever release wrote them."""
        declared = columns(table)
        nothing = ", ".join(f'CAST(NULL AS {c.duckdb_type}) AS "{c.name}"' for c in declared)
        if not self._lake.files(folder):
            self._without.append(table.name)
            no_more = "".join(f", NULL AS {each.rsplit(' ', 1)[1]}" for each in more)
            return f"SELECT {nothing}{no_more} WHERE false"
        files = sql_text(f"{self._root}/{folder}/{_DAYS}")
        read = f"read_parquet({files}, hive_partitioning = false, union_by_name = true, filename = true)"
        selected = ", ".join([*(_column_sql(table, c) for c in declared), *more])
        # union_by_name leaves out a column that no file has: beside none of the rows it is there
        return f"SELECT {selected} FROM (\nFROM {read}\nUNION ALL BY NAME SELECT {nothing} WHERE false)"


def _pattern(root: Path) -> str:
    """A folder as DuckDB's patterns of paths take it: what stands in its name stands for itself."""
    text = str(root)
    if any(char in "\\\0" or "\ud800" <= char <= "\udfff" for char in text):
        message = (
            f"DuckDB cannot be given the folder {quote_shortened(text)}: name the lake by a link "
            "without such characters"
        )
        raise UserError(message)
    return text.replace("[", "[[]").replace("*", "[*]").replace("?", "[?]")


def _column_sql(table: type[Table], c: Column) -> str:
    value = f"CAST({shown_column_sql(table.name, c.name)} AS {c.duckdb_type})"
    if c.since > 1 and not c.nullable:
        value = f"coalesce({value}, CAST({sql_text(json.dumps(c.default))} AS {c.duckdb_type}))"
    return f'{value} AS "{c.name}"'


def _view(name: str, table: type[Table], query: str, *more: str) -> str:
    named = {c.name: comment(c) for c in columns(table)} | dict.fromkeys(more, "The UTC day of the partition.")
    lines = [f'CREATE OR REPLACE VIEW "{name}" AS\n{query};']
    lines.append(f'COMMENT ON VIEW "{name}" IS {sql_text(table_comment(table))};')
    lines += [f'COMMENT ON COLUMN "{name}"."{each}" IS {sql_text(text)};' for each, text in named.items()]
    return "\n".join(lines) + "\n"


# ------------------------------------------------------------------------------- fields that stood in `extra` before


def _with_extra(rows: str, stood: Sequence[Column], names: Sequence[str]) -> str:
    """`rows` of which columns since declared may stand in `extra`, as `schema_changes.as_declared` reads them."""
    told, fits, taken = [], [], {}
    for c in stood:
        value, is_fit = _of_extra(c)
        told.append(f'{value} AS "told_{c.name}", {is_fit} AS "fits_{c.name}"')
        fits.append(f"CASE WHEN \"fits_{c.name}\" THEN '{json.dumps(c.name)}:null' END")
        taken[f'"{c.name}"'] = f'coalesce("{c.name}", "told_{c.name}") AS "{c.name}"'
    any_fit = " OR ".join(f'"fits_{c.name}"' for c in stood)
    patch = f"'{{' || concat_ws(',', {', '.join(fits)}) || '}}'"
    left = f"nullif(CAST(json_merge_patch(extra, {patch}) AS VARCHAR), '{{}}')"
    taken['"extra"'] = f"CASE WHEN {any_fit} THEN {left} ELSE extra END AS extra"
    cleared = [c for c in stood if c.kind != "text"]
    if cleared and '"clears"' in names:
        which = ", ".join(
            f"CASE WHEN json_extract_string(extra, '$.\"{c.name}\"') = '' THEN {sql_text(c.name)} END" for c in cleared
        )
        added = f"list_filter([{which}], lambda name: name IS NOT NULL)"
        both = f"list_sort(list_distinct(list_concat(coalesce(clears, []), {added})))"
        taken['"clears"'] = f"CASE WHEN len({added}) > 0 THEN {both} ELSE clears END AS clears"
    selected = ", ".join(taken.get(name, name) for name in names)
    return f"SELECT {selected} FROM (\nSELECT *, {', '.join(told)} FROM (\n{rows}\n))"


def _of_extra(c: Column) -> tuple[str, str]:
    """What a row's `extra` says of a column, and whether that fits it, as `coerce` has it."""
    value = f"json_extract(extra, '$.\"{c.name}\"')"
    if c.kind == "texts":
        whole = f"json_extract_string(extra, '$.\"{c.name}\"')"
        listed = f"CASE json_type({value}) WHEN 'ARRAY' THEN {value} WHEN 'VARCHAR' THEN try_cast({whole} AS JSON) END"
        items = f"json_extract({listed}, '$[*]')"
        is_list = (
            f"json_type({listed}) = 'ARRAY' AND len(list_filter({items}, "
            "lambda item: json_type(item) IN ('OBJECT', 'ARRAY'))) = 0"
        )
        item = _text("item", is_id=holds_ids(c))
        said = f"list_filter(list_transform({items}, lambda item: {item}), lambda text: {_says('text')})"
        texts = f"CASE WHEN {is_list} THEN {said} END"
        blank = f"(json_type({value}) = 'VARCHAR' AND NOT regexp_matches({whole}, '{NOT_BLANK}'))"
        return texts, f"coalesce({is_list}, false) OR coalesce({blank}, false)"
    if c.kind == "time":
        whole = f"json_extract_string(extra, '$.\"{c.name}\"')"
        is_said = f"json_type({value}) NOT IN ('BOOLEAN', 'OBJECT', 'ARRAY', 'NULL')"
        time = f"CASE WHEN {is_said} THEN {_time(whole)} END"
        blank = f"coalesce(json_type({value}) = 'VARCHAR' AND NOT regexp_matches({whole}, '{NOT_BLANK}'), false)"
        return time, f"({time} IS NOT NULL OR {blank})"
    if c.kind == "integer":
        return _whole_number(c, value)
    if c.kind != "text":
        message = f"{c.name}: a column of kind {c.kind} that stood in `extra` is not read by these views yet"
        raise NotImplementedError(message)
    text = _text(value, is_id=holds_ids(c))
    if c.choices:
        allowed = ", ".join(map(sql_text, ("", *c.choices)))
        text = f"CASE WHEN {text} IN ({allowed}) THEN {text} END"
    return text, f"{text} IS NOT NULL"


def _whole_number(c: Column, value: str) -> tuple[str, str]:
    """As `_of_extra`, of a whole number: a number without a fraction, or a text that says one; a blank text is none."""
    whole = f"json_extract_string({value}, '$')"
    is_text = f"json_type({value}) = 'VARCHAR'"
    is_number = f"({is_text} OR json_type({value}) IN ('BIGINT', 'UBIGINT', 'DOUBLE'))"
    double = f"try_cast(trim({whole}) AS DOUBLE)"
    exact = f"CASE WHEN regexp_full_match(trim({whole}), '[+-]?[0-9]+') THEN try_cast(trim({whole}) AS BIGINT)"
    number = f"{exact} WHEN trunc({double}) = {double} THEN try_cast({double} AS BIGINT) END"
    least = "" if c.low is None else f" AND ({number}) >= {c.low:.0f}"
    said = f"CASE WHEN {is_number}{least} THEN {number} END"
    blank = f"coalesce({is_text} AND NOT regexp_matches({whole}, '{NOT_BLANK}'), false)"
    return said, f"({said} IS NOT NULL OR {blank})"


def _says(text: str) -> str:
    return f"coalesce(regexp_matches({text}, '{NOT_BLANK}'), false)"


def _text(value: str, *, is_id: bool) -> str:
    """One JSON value as text, as landing does: a number as Python writes it, a whole one of an id without a point."""
    plain = f"json_extract_string({value}, '$')"
    double = f"CAST({plain} AS DOUBLE)"
    number = f"CAST({double} AS VARCHAR)"
    if is_id:
        is_whole = f"abs({double}) < {2**53} AND trunc({double}) = {double}"
        number = f"CASE WHEN {is_whole} THEN CAST(CAST({double} AS BIGINT) AS VARCHAR) ELSE {number} END"
    return (
        f"CASE json_type({value}) WHEN 'DOUBLE' THEN {number} "
        f"WHEN 'OBJECT' THEN NULL WHEN 'ARRAY' THEN NULL WHEN 'NULL' THEN NULL ELSE {plain} END"
    )


def _time(text: str) -> str:
    """A text as a time, as landing reads it; NULL where it is none, or the zero value of a clock."""
    names = "['y', 'mo', 'd', 'h', 'mi', 's', 'f', 'z', 'sign', 'oh', 'om']"
    part = f"regexp_extract({text}, {sql_text(ISO)}, {names})"
    of = lambda name, none="0": f"coalesce(nullif({part}.{name}, ''), '{none}')"  # noqa: E731 - needs no name of its own
    clock = (
        f"try_cast({of('y')} || '-' || {of('mo')} || '-' || {of('d')} || ' ' || {of('h', '00')} || ':' || "
        f"{of('mi', '00')} || ':' || {of('s', '00')} AS TIMESTAMP)"
    )
    minutes = f"(CAST({of('oh')} AS BIGINT) * 60 + CAST({of('om')} AS BIGINT))"
    offset = f"CASE WHEN {part}.sign = '-' THEN -1 ELSE 1 END * {minutes} * 60000000"
    is_clock = (
        f"CAST({of('oh')} AS INTEGER) < 24 AND CAST({of('om')} AS INTEGER) < 60 AND CAST({of('s')} AS INTEGER) < 60"
    )
    fraction = f"CAST(rpad(left({part}.f, 6), 6, '0') AS BIGINT)"
    iso = f"CASE WHEN {part}.y <> '' AND {is_clock} THEN epoch_us({clock}) + {fraction} - {offset} END"
    is_whole = f"regexp_matches({text}, {sql_text(WHOLE_NUMBER)})"
    is_number = f"regexp_matches({text}, {sql_text(NUMBER)})"
    # of 64 bits, that a product stays within HUGEINT
    whole = f"CAST(try_cast(CASE WHEN {is_whole} THEN trim({text}) END AS BIGINT) AS HUGEINT)"
    number = f"try_cast(CASE WHEN {is_number} AND NOT {is_whole} THEN trim({text}) END AS DOUBLE)"
    us = (
        f"coalesce({iso}, {_epoch_us(whole, f'{whole} // 1000')}, "
        f"try_cast(round({_epoch_us(number, f'{number} / 1000')}) AS HUGEINT))"
    )
    zero = ", ".join(sql_text(f"{each:%Y-%m-%d}".rjust(10, "0")) for each in ZERO_TIMES)
    at = f"make_timestamp(CAST(CASE WHEN {us} BETWEEN {EARLIEST_US} AND {LATEST_US} THEN {us} END AS BIGINT))"
    return f"CASE WHEN {at} NOT IN ({zero}) THEN {at} END"


def _epoch_us(number: str, of_nanoseconds: str) -> str:
    return (
        f"CASE WHEN abs({number}) < {EPOCH_MILLISECONDS_FROM} THEN {number} * 1000000 "
        f"WHEN {number} < {EPOCH_MICROSECONDS_FROM} THEN {number} * 1000 "
        f"WHEN {number} < {EPOCH_NANOSECONDS_FROM} THEN {number} "
        f"WHEN {number} < {EPOCH_NANOSECONDS_BELOW} THEN {of_nanoseconds} END"
    )
