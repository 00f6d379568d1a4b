"""The lake: landed row versions, derived day partitions and the run ledger, as Parquet files that never change.

`<table>/day=YYYY-MM-DD/<digest>-<newest>.parquet`: the name says which rows are inside (their digest) and the newest
instant they mention (event time or `recorded_at`, epoch µs), so that a plan needs to open no file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from itertools import chain
from pathlib import Path
from typing import Any, cast

import polars as pl

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.progress import this_command
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.storage.storage import on_disk, storage_of
from slowwave.flows.kernel.store import row_groups_count, write_durably, write_parquet, write_parquet_parts
from slowwave.flows.lake.files import LakeFile, LakeFormat, check_format, files_by_day, microseconds
from slowwave.flows.lake.formats import bring_up_to_date
from slowwave.flows.lake.pieces import gathered_pieces, with_columns
from slowwave.transforms.core.frames import Lazy, T, conform
from slowwave.transforms.core.hashing import digest, rows_digest
from slowwave.transforms.core.schema import Landed, Table, polars_schema
from slowwave.transforms.landing.ledger_tables import CheckedFiles
from slowwave.transforms.landing.schema_changes import as_declared, lacks_only_new_columns
from slowwave.transforms.landing.tables import LANDED, Interactions

_WIDER = pl.ScanCastOptions(
    integer_cast=["upcast", "allow-float"],
    float_cast="upcast",
    missing_struct_fields="insert",
    extra_struct_fields="ignore",
)
_MOVED_KEYS = pl.Schema({"key_hash": pl.Int64, "day": pl.Date})
_DAY_OF_FILE = r".*day=(\d{4}-\d{2}-\d{2})[/\\]"
COMPACT_FROM_FILES = 16
_COMPACT_BELOW_BYTES = 64 * 2**20
_PART_BYTES = 64 * 2**20
_SMALL_ROW_GROUPS = 2
_MERGED_BYTES = 128 * 2**20  # decoded, as what a landing writes at once


class Lake:
    """The lake at `root`. Only the holder of the writer lock may call what writes.

    Paths are read with `glob=False`: the name of the home may hold `[`, `*` or `?`.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def is_there(self) -> bool:
        """Whether there is a lake: its folder, or anything in its bucket."""
        return storage_of(self.root).is_folder(self.root)

    # ---------------------------------------------------------------- format

    def check_format(self) -> LakeFormat | None:
        """What the lake's `FORMAT` says; None where there is no lake.

        Raises UserError when the lake was written by a newer version.
        """
        return check_format(self.root)

    def prepare(self) -> None:
        """Make the lake where there is none, or bring it up to date; clear what a killed writer left half-written.

        Raises UserError when the lake was written by a newer version.
        """
        bring_up_to_date(self.root)
        storage_of(self.root).clear(self.root)

    # ---------------------------------------------------------------- files

    def files(self, table: str) -> dict[date, list[LakeFile]]:
        """Every file of a table by day, days and names sorted."""
        return files_by_day(self.root, table)

    def folder(self, table: str, day: date) -> Path:
        """Folder of one day of a table."""
        return self.root / table / f"day={day.isoformat()}"

    # ---------------------------------------------------------------- landed rows

    def write_rows(self, table: type[Landed], day: date, rows: pl.DataFrame) -> Path:
        """Add row versions to a day; returns the file."""
        order = ["project"] if table is Interactions else []  # large days are read by project
        rows = rows.select(*polars_schema(table)).sort(*order, *table.key, "recorded_at", "row_hash")
        newest = rows.select(pl.max_horizontal(pl.col(table.event_time).max(), pl.col("recorded_at").max())).item()
        name = f"{rows_digest(rows['row_hash'])}-{microseconds(newest)}.parquet"
        path = self.folder(table.name, day) / name
        write_parquet(path, rows)
        return path

    def row_hashes(self, table: type[Landed], days: Iterable[date], *, of_before: bool = False) -> pl.Series:
        """Hashes of all rows landed on `days`; `of_before`: by releases that did not know all columns of today."""
        files = self.files(table.name)
        paths = [file.path for day in days for file in files.get(day, [])]
        if of_before:
            paths = [path for path in paths if _lacks_columns(table, path)]
        if not paths:
            return pl.Series("row_hash", dtype=pl.String)
        return scan_declared(table, paths).select("row_hash").collect()["row_hash"]

    def scan_rows(self, table: type[Landed], files: Sequence[LakeFile]) -> pl.LazyFrame:
        """All row versions in `files`, each once."""
        return self.scan_copies(table, files).unique(subset="row_hash", keep="any")

    def scan_copies(self, table: type[Landed], files: Sequence[LakeFile]) -> pl.LazyFrame:
        """All rows in `files`: a killed compaction may have left one in two of them."""
        if not files:
            return pl.LazyFrame(schema=polars_schema(table))
        return scan_declared(table, [file.path for file in files])

    def scan_files(self, table: type[Landed], files: Sequence[LakeFile], names: Sequence[str]) -> pl.LazyFrame:
        """The columns `names` of all rows in `files`, and `file_path`, the file a row stands in."""
        paths = [file.path for file in files]
        rows = scan_declared(table, paths, include_file_paths="file_path").select("file_path", *names)
        copies = {str(copy): str(path) for path, copy in zip(paths, on_disk(paths), strict=True)}
        if all(copy == path for copy, path in copies.items()):
            return rows
        return rows.with_columns(pl.col("file_path").replace(copies))

    # ---------------------------------------------------------------- keys on several days

    def add_moved_keys(self, table: type[Landed], keys: pl.DataFrame) -> None:
        """Note keys (key_hash, day) that have versions on more than one day; written before the rows themselves."""
        keys = keys.select("key_hash", "day").unique().sort("key_hash", "day")
        name = rows_digest(keys.select(pl.format("{} {}", "key_hash", "day")).to_series())
        write_parquet(self.root / "moved_keys" / table.name / f"{name}.parquet", keys)

    def moved_keys(self, table: type[Landed]) -> pl.DataFrame:
        """(key_hash, day) of every key that may have versions on more than one day."""
        folder = self.root / "moved_keys" / table.name
        paths = [path for path in storage_of(folder).files(folder) if path.suffix == ".parquet"]
        if not paths:
            return pl.DataFrame(schema=_MOVED_KEYS)
        return _scan(paths, _MOVED_KEYS).unique().sort("key_hash", "day").collect()

    def days_of_keys(self, table: type[Landed], key_hashes: pl.Series) -> pl.DataFrame:
        """(key_hash, day) of the landed rows with one of these key hashes."""
        files = [file for of_day in self.files(table.name).values() for file in of_day]
        if not files:
            return pl.DataFrame(schema=_MOVED_KEYS)
        wanted = key_hashes.unique().to_frame("key_hash").lazy()
        rows = scan_declared(table, with_columns(files, ("key_hash",)), include_file_paths="file_path")
        rows = rows.select("file_path", "key_hash").join(wanted, on="key_hash", how="semi")
        return rows.select("key_hash", _day_of_file()).unique().collect()

    # ---------------------------------------------------------------- evidence

    def evidence_path(self, table: type[Table], day: date, name: str) -> Path:
        """Where a day's partition with this name is."""
        return self.root / f"evidence/{table.name}/day={day.isoformat()}/{name}.parquet"

    def has_evidence(self, table: type[Table], day: date, name: str) -> bool:
        """Whether a day's partition with this name is there."""
        path = self.evidence_path(table, day, name)
        return storage_of(path).exists(path)

    def scan_evidence(self, table: type[T], partitions: Mapping[date, str]) -> Lazy[T]:
        """The rows of the named partitions, stacked, with `day`."""
        if not partitions:
            return cast("Lazy[T]", pl.LazyFrame(schema={**polars_schema(table), "day": pl.Date}))
        paths = [self.evidence_path(table, day, name) for day, name in partitions.items()]
        # one scan of all files: one for each takes several times as long to plan as to read
        rows = scan_declared(table, paths, include_file_paths="file_path")
        return cast("Lazy[T]", rows.with_columns(_day_of_file()).drop("file_path"))

    # ---------------------------------------------------------------- ledger

    def write_evidence(
        self, table: type[Table], day: date, name: str, frame: pl.DataFrame, *, verify: bool = False
    ) -> None:
        """Keep a partition; one that is there already is left, or with `verify` compared with `frame`.

        Raises UserError when it differs, after it was replaced; OSError when the lake cannot be written.
        """
        path = self.evidence_path(table, day, name)
        written = written_columns(path)
        if not lacks_only_new_columns(table, written):
            write_parquet(path, frame)
            return
        if not verify:
            return
        before = scan_declared(table, [path]).collect()
        if before.equals(frame):
            return
        write_parquet(path, frame)
        same = [name for name, dtype in polars_schema(table).items() if written.get(name) == dtype]
        if not before.select(same).equals(frame.select(same)):
            message = f"{table.name} of {day} differs from a full rebuild; it was replaced: please report this"
            raise UserError(message)

    def write_evidence_parts(
        self, table: type[Table], day: date, name: str, parts: Iterator[pl.DataFrame], *, verify: bool = False
    ) -> None:
        """`write_evidence` of a partition that comes in parts, one after the other, and is not held whole."""
        path, first = self.evidence_path(table, day, name), next(parts)
        second = next(parts, None)
        if second is None or verify:
            rest = [] if second is None else [second, *parts]
            self.write_evidence(table, day, name, pl.concat([first, *rest]), verify=verify)
        elif not lacks_only_new_columns(table, written_columns(path)):
            write_parquet_parts(path, chain((first, second), parts))

    def write_packed_evidence(self, table: type[Table], day: date, name: str, packed: memoryview) -> None:
        """Keep a partition that is packed already. Raises OSError when the lake cannot be written."""
        write_durably(self.evidence_path(table, day, name), lambda aside: aside.write_bytes(packed))

    def write_ledger(self, table: type[Table], day: date, name: str, rows: pl.DataFrame) -> None:
        """Add rows to the run ledger; the same name written again replaces what a killed run left."""
        write_parquet(self.folder(table.name, day) / f"{name}.parquet", conform(table, rows.lazy()).collect())

    def ledger(self, table: type[Table], without: Sequence[str] = ()) -> pl.DataFrame:
        """All rows of a ledger table, one per key (a killed compaction may have left a row in two files).

        `without`: columns that are not read.
        """
        paths = [file.path for file in self._ledger_files(table)]
        if not paths:
            return pl.DataFrame(schema=polars_schema(table)).drop(without)
        return _one_per_key(table, scan_declared(table, paths).drop(without)).collect()

    def ledger_parts(self, table: type[Table]) -> Iterator[pl.LazyFrame]:
        """The rows of a ledger table as its files hold them, some at a time."""
        for part in gathered_pieces(self._ledger_files(table), _PART_BYTES):
            yield pl.concat(scan_declared(table, [each.file.path]).slice(each.offset, each.rows) for each in part)

    def _ledger_files(self, table: type[Table]) -> list[LakeFile]:
        return [file for files in self.files(table.name).values() for file in files]

    def add_checked_files(self, rows: pl.DataFrame, day: date, name: str) -> None:
        """Note what was found out about files; rows of `CheckedFiles`."""
        if rows.height:
            self.write_ledger(CheckedFiles, day, name, rows)
            self.compact(CheckedFiles, day)

    # ---------------------------------------------------------------- compaction

    def compact(self, table: type[Table], day: date) -> int:
        """Merge the small files of a day into one when there are many; returns how many files went.

        Writes the merged file, then removes the old ones: killed in between, rows stand in two files, and every reader
        takes each row once. Landed files of before today's columns stay, for they tell what was landed then.
        """
        folder = self.folder(table.name, day)
        storage = storage_of(folder)
        small = [
            path
            for path in storage.files(folder)
            if path.suffix == ".parquet" and storage.size(path) < _COMPACT_BELOW_BYTES
        ]
        if len(small) >= COMPACT_FROM_FILES and issubclass(table, Landed):
            small = [path for path in small if not _lacks_columns(table, path)]
        if len(small) < COMPACT_FROM_FILES:
            return 0
        gone = 0
        for paths, rows in _packs(table, small):
            if issubclass(table, Landed):
                merged = self.write_rows(table, day, rows.unique(subset="row_hash", keep="any"))
            else:
                merged = folder / f"{digest(path.stem for path in paths)}.parquet"
                write_parquet(merged, _one_per_key(table, rows.lazy()).collect())
            old = [path for path in paths if path != merged]
            storage.remove(old)
            gone += len(old)
        return gone


def _packs(table: type[Table], paths: Sequence[Path]) -> Iterator[tuple[list[Path], pl.DataFrame]]:
    """Files to make one of, and their rows: of little when decoded, which their size on the disk does not tell."""
    held: list[tuple[Path, pl.DataFrame]] = []
    for path in paths:
        if row_groups_count(path) > _SMALL_ROW_GROUPS:
            continue
        held.append((path, scan_declared(table, [path]).collect()))
        if sum(rows.estimated_size() for _, rows in held) >= _MERGED_BYTES:
            if len(held) > 1:
                yield [path for path, _ in held], pl.concat(rows for _, rows in held)
            held = []
    if len(held) > 1:
        yield [path for path, _ in held], pl.concat(rows for _, rows in held)


def scan_declared(table: type[T], paths: Sequence[Path], **options: Any) -> Lazy[T]:  # noqa: ANN401 - Polars' own
    """The rows of files of the lake as `table` is declared now, whichever release wrote them.

    Columns they lack are NULL (the declared default, where a column is never NULL) or stood in `extra`; columns since
    removed are left out; narrower numbers are widened. Anything else is a SchemaError when the rows are read, which
    `named_misfit` explains.
    """
    # scanned with the declared schema: there is nothing left to check
    return cast("Lazy[T]", as_declared(table, _scan(paths, polars_schema(table), **options)))


def _day_of_file() -> pl.Expr:
    """The day of the partition that a row's `file_path` lies in."""
    return pl.col("file_path").str.extract(_DAY_OF_FILE).str.to_date("%Y-%m-%d").alias("day")


def written_columns(path: Path) -> pl.Schema:
    """The columns a file of the lake was written with; none where there is no file, or one that cannot be read."""
    try:
        return pl.Schema(pl.read_parquet_schema(on_disk([path])[0]))
    except (FileNotFoundError, pl.exceptions.PolarsError):
        return pl.Schema()


def _lacks_columns(table: type[Table], path: Path) -> bool:
    return not written_columns(path).keys() >= polars_schema(table).keys()


def _scan(paths: Sequence[Path], schema: pl.Schema, **options: Any) -> pl.LazyFrame:  # noqa: ANN401 - Polars' own
    """Every read of the lake's Parquet by Polars."""
    return pl.scan_parquet(
        on_disk(paths),
        glob=False,
        schema=schema,
        missing_columns="insert",
        extra_columns="ignore",
        cast_options=_WIDER,
        **options,
    )


def _one_per_key(table: type[Table], rows: pl.LazyFrame) -> pl.LazyFrame:
    key = table.stored_key or table.key
    return rows.unique(subset=list(key), keep="any").sort(key)


def make_lake(root: Path) -> Lake:
    """The lake at `root`, made where there is none."""
    lake = Lake(root)
    lake.prepare()
    return lake


# The lake as commands open it that need what has been landed.


def landed_lake(settings: Settings) -> Lake:
    """The lake; raises UserError where there is none yet, or when a newer version wrote it."""
    lake = Lake(settings.lake_folder)
    if not lake.is_there():
        message = f"nothing has been landed in {settings.home} yet: run `{this_command()} land PATH` first"
        raise UserError(message)
    lake.check_format()
    return lake


# Of Parquet, which unpacks to a few times that: much less than the vectors of words take.
_SMALL_BYTES = 16 * 2**20


@contextmanager
def suited_engine(lake: Lake) -> Iterator[None]:
    """Inside, what is small is collected in memory: to begin to stream takes longer than to collect few rows.

    What is large streams, so that it need not be held at once. The values are the same.
    """
    files = (file for table in LANDED for of_day in lake.files(table.name).values() for file in of_day)
    with pl.Config() as config:
        if sum(file.size for file in files) < _SMALL_BYTES:
            config.set_engine_affinity("in-memory")
        yield
