"""The log as seen at an instant: which row versions count, and what the evidence of a day is computed from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime, time
from functools import cached_property
from typing import Any, TypeVar

import polars as pl

from slowwave.flows.lake.checked_files import FileChecks, left_out_by_people
from slowwave.flows.lake.lake import Lake, LakeFile, microseconds, scan_declared
from slowwave.flows.lake.pieces import Between, pieces, with_columns
from slowwave.flows.publish.replay_inputs import MANY_BYTES, KeptInputs, Times, rows_count
from slowwave.transforms.core.hashing import digest
from slowwave.transforms.core.node import LandedInput
from slowwave.transforms.core.schema import Landed, polars_schema
from slowwave.transforms.decisions.effects import effective
from slowwave.transforms.evidence.nodes import MEMORY_CHANGES, MEMORY_POOL
from slowwave.transforms.evidence.reach import knows_expiry
from slowwave.transforms.evidence.states import memory_pool, memory_states, states_over_time
from slowwave.transforms.graph import node_of
from slowwave.transforms.landing.nodes import DECIDED
from slowwave.transforms.landing.tables import LANDED
from slowwave.transforms.landing.versions import is_visible, winning_versions
from slowwave.transforms.params import Params

# From so many files on, or so many bytes of them, it is first found out which rows have to be compared.
_MANY_FILES = 8
_KEYS_AT_ONCE = 8_000_000
_LEAST_BYTES = 24  # of a row: those of key_hash, and of row_hash

_Found = TypeVar("_Found")


class LogAsOf:
    """The log as seen at `as_of`: the file list taken once, and the winning versions in it."""

    def __init__(self, lake: Lake, as_of: datetime, params: Params) -> None:
        self.lake = lake
        self.as_of = as_of
        self.params = params
        self._found: dict[tuple[object, ...], Any] = {}
        self.kept_inputs = KeptInputs()

    def _find_once(self, key: tuple[object, ...], find: Callable[[], _Found]) -> _Found:
        if key not in self._found:
            self._found[key] = find()
        return self._found[key]

    def files(self, table: type[Landed]) -> dict[date, list[LakeFile]]:
        """The files of the days that begin before `as_of`."""
        return self._find_once(("files", table), lambda: self._list_files(table))

    def _list_files(self, table: type[Landed]) -> dict[date, list[LakeFile]]:
        listed = self.lake.files(table.name)
        return {day: files for day, files in listed.items() if day_start(day) < self.as_of}

    def signature(self, table: type[Landed], day: date) -> str:
        """Digest of the names of a day's files, of what moved away or is set aside, and of `as_of` where it cuts."""
        files = self.files(table).get(day, [])
        is_cut = any(file.newest_us >= microseconds(self.as_of) for file in files)
        away = self._find_once(("moved by day", table), lambda: _hashes_by_day(self.moved_away(table))).get(day, ())
        parts = [*(file.path.name for file in files), "", *away, self.as_of.isoformat() if is_cut else ""]
        aside = self._find_once(("set aside by day", table), lambda: self._set_aside_hashes(table)).get(day)
        return digest([*parts, "set aside", *aside] if aside else parts)

    @cached_property
    def checks(self) -> FileChecks:
        """What the declared checks say of the lake's files."""
        return FileChecks(self.lake)

    @cached_property
    def left_out(self) -> pl.DataFrame:
        """Rows that people left out, at whatever time: landed_table, key, row_hash, check, reason and their times."""
        return left_out_by_people(self.lake)

    def set_aside(self, table: type[Landed]) -> pl.DataFrame:
        """Row versions that count nowhere, one per check they fail: key, row_hash, check, reason and their times."""
        return self._find_once(("set aside", table), lambda: self._find_set_aside(table))

    def _find_set_aside(self, table: type[Landed]) -> pl.DataFrame:
        by_decision = self.left_out.filter(pl.col("landed_table") == table.name).drop("landed_table")
        files = [file for of_day in self.files(table).values() for file in of_day]
        failed = self.checks.find_failed_rows(table, files) if table in LANDED else by_decision.clear()
        return pl.concat([failed, by_decision])

    def _set_aside_hashes(self, table: type[Landed]) -> dict[date, list[str]]:
        rows = self.set_aside(table).select(pl.col("happened_at").dt.date().alias("day"), "row_hash")
        return _hashes_by_day(rows.unique())

    def drop_set_aside(self, table: type[Landed], rows: pl.LazyFrame) -> pl.LazyFrame:
        """`rows` without those that are set aside."""
        return _without(rows, self.set_aside(table), "row_hash")

    def moved_away(self, table: type[Landed]) -> pl.DataFrame:
        """(day, row_hash) of visible versions that lose to a version of their key on another day."""
        return self._find_once(("moved away", table), lambda: self._find_moved_away(table))

    def _find_moved_away(self, table: type[Landed]) -> pl.DataFrame:
        keys = self.lake.moved_keys(table)
        chosen = [file for day in keys["day"].unique().sort() for file in self.files(table).get(day, [])]
        if not chosen:
            return pl.DataFrame(schema={"day": pl.Date, "row_hash": pl.String})
        narrow = list(dict.fromkeys([*table.key, table.event_time, "recorded_at", "row_hash"]))
        rows = (
            self.drop_set_aside(table, self.lake.scan_rows(table, chosen))
            .join(keys.lazy().select("key_hash").unique(), on="key_hash", how="semi")
            .select(*narrow, pl.col(table.event_time).dt.date().alias("day"))
            .filter(is_visible(table, self.as_of))
        )
        winners = winning_versions(table, rows, self.as_of)
        return rows.join(winners, on="row_hash", how="anti").select("day", "row_hash").collect()

    def winners(
        self, table: type[Landed], days: Iterable[date], names: Iterable[str], of: pl.LazyFrame | None = None
    ) -> pl.LazyFrame:
        """The winning versions on `days`, with the columns `names` (and those that decide who wins), and `day`.

        `of`: keys; no others are looked at.
        """
        chosen = [file for day in days for file in self.files(table).get(day, [])]

        def narrow_rows(rows: pl.LazyFrame) -> pl.LazyFrame:
            return self._select_columns(
                table, rows if of is None else rows.join(of, on=list(table.key), how="semi"), names
            )

        if len(chosen) < _MANY_FILES and sum(file.size for file in chosen) < MANY_BYTES:
            won = winning_versions(table, narrow_rows(self.lake.scan_rows(table, chosen)), self.as_of)
        else:  # most rows are the only one of their key: to compare them all takes longer, and more memory
            rows, several = scan_declared(table, [file.path for file in chosen]), _several(table, chosen).collect()
            won = narrow_rows(_without(rows, several, "key_hash")).filter(is_visible(table, self.as_of))
            if len(several):
                compared = rows.join(several.lazy(), on="key_hash", how="semi").unique(subset="row_hash", keep="any")
                won = pl.concat([won, winning_versions(table, narrow_rows(compared), self.as_of)])
        return _without(won, self.moved_away(table), "day", "row_hash")

    def _select_columns(self, table: type[Landed], rows: pl.LazyFrame, names: Iterable[str]) -> pl.LazyFrame:
        narrow = list(dict.fromkeys([*table.key, table.event_time, "recorded_at", "row_hash", *names]))
        day = pl.col(table.event_time).dt.date().alias("day")
        return self.drop_set_aside(table, rows).select(narrow).with_columns(day)

    def rows_within(self, rows: LandedInput, day: date, within: Between) -> pl.LazyFrame:
        """`rows` of one day, of a part of it: of its files little else is read."""
        table = rows.of
        found = [
            scan_declared(table, [piece.path]).slice(piece.offset, piece.rows)
            for piece in pieces(self.files(table)[day], within)
        ]
        part = pl.concat([pl.LazyFrame(schema=polars_schema(table)), *found]).filter(within.holds())
        part = self._select_columns(table, part, rows.columns).filter(is_visible(table, self.as_of))
        beaten = self._find_once(("beaten", table, day), lambda: self._find_beaten(table, day))
        part = _without(_without(part, beaten, "row_hash"), self.moved_away(table), "day", "row_hash")
        return part.unique(subset="row_hash", keep="any").rename(rows.renames)

    def _find_beaten(self, table: type[Landed], day: date) -> pl.DataFrame:
        """row_hash of the visible versions that lose to one of their key on the same day: few."""
        files = self.files(table)[day]
        rows = scan_declared(
            table, with_columns(files, (*table.key, table.event_time, "recorded_at", "row_hash", "key_hash"))
        )
        compared = self._select_columns(table, rows.join(_several(table, files), on="key_hash", how="semi"), ())
        seen = compared.filter(is_visible(table, self.as_of)).unique("row_hash").collect()
        won = winning_versions(table, seen.lazy(), self.as_of)
        return seen.lazy().join(won, on="row_hash", how="anti").select("row_hash").collect()

    def rows(self, rows: LandedInput, days: Iterable[date], of: pl.LazyFrame | None = None) -> pl.LazyFrame:
        """The winning rows as far as they are read; of interactions `created_at` is `occurred_at` from here on."""
        return self.winners(rows.of, days, rows.columns, of).rename(rows.renames)

    @cached_property
    def states(self) -> pl.DataFrame:
        """Memory states visible at `as_of`."""
        return states_over_time(self.stated_states(), self.as_of).collect()

    def stated_states(self) -> pl.LazyFrame:
        """Memory states in which nothing expires."""
        return memory_states(self.rows(MEMORY_CHANGES, self.files(MEMORY_CHANGES.of)), self.params.scopes)

    @cached_property
    def decisions(self) -> pl.LazyFrame:
        """Decisions visible at `as_of` that took effect."""
        table = DECIDED.of
        rows = self.lake.scan_rows(table, [file for files in self.files(table).values() for file in files])
        seen = rows.filter(is_visible(table, self.as_of)).collect()
        return winning_versions(table, effective_decisions(self.lake, seen).lazy(), self.as_of).collect().lazy()

    @property
    def failed_rows(self) -> pl.DataFrame:
        """What is `set_aside` of each landed table, with its name as `table`."""
        return pl.concat([self.set_aside(of).with_columns(table=pl.lit(of.name)) for of in LANDED])

    @cached_property
    def pool(self) -> pl.DataFrame:
        """Memory pool visible at `as_of`."""
        params = node_of(MEMORY_POOL).select_params(self.params)
        states = self.states.lazy() if knows_expiry(self.params.evidence) else self.stated_states()
        return memory_pool(states, params).collect()

    def forget_pool(self) -> None:
        """Give back what the pool and what is kept of it take: nothing but a replay asks for them."""
        self.__dict__.pop("pool", None)
        self.kept_inputs = KeptInputs()

    def pool_between(self, times: Times) -> pl.LazyFrame:
        """The pool rows that hold at some time from the first to the last; lazy, for they are most of the pool."""
        if times is None:  # all that was there has moved to other days
            return self.pool.lazy().clear()
        first, last = times
        still = pl.col("valid_until").is_null() | (pl.col("valid_until") > first)
        return self.pool.lazy().filter(pl.col("valid_from") <= last, still)


def _several(table: type[Landed], files: Sequence[LakeFile]) -> pl.LazyFrame:
    """key_hash of the keys that several rows in these files have, counted some at a time."""
    rows = scan_declared(table, with_columns(files, ("key_hash",)))
    # of few bytes it is not asked how many rows they are: each has two hashes, which are hardly made smaller
    is_few = sum(file.size for file in files) < _LEAST_BYTES * _KEYS_AT_ONCE
    found, parts = [], 1 if is_few else 1 + rows_count(files) // _KEYS_AT_ONCE
    for part in range(parts):
        keys = rows.select("key_hash").filter(pl.col("key_hash") % parts == part).collect()["key_hash"].sort()
        found.append(keys.filter(keys == keys.shift()).unique())
    return pl.concat(found).to_frame().lazy()


def _hashes_by_day(rows: pl.DataFrame) -> dict[date, list[str]]:
    """row_hash of the rows of each day, sorted."""
    return dict(rows.group_by("day").agg(pl.col("row_hash").sort()).rows())


def effective_decisions(lake: Lake, decisions: pl.DataFrame) -> pl.DataFrame:
    """Of landed decisions those whose status changes, if they make any, are in the memory log."""
    return effective(decisions, lake.row_hashes(MEMORY_CHANGES.of, decisions["decided_at"].dt.date().unique().sort()))


def day_start(day: date) -> datetime:
    """Midnight UTC at the start of a day."""
    return datetime.combine(day, time())


def _without(rows: pl.LazyFrame, others: pl.DataFrame, *on: str) -> pl.LazyFrame:
    """`rows` without those named by `others`: where there are none, their names are not even read."""
    return rows.join(others.lazy().select(on).unique(), on=on, how="anti") if len(others) else rows
