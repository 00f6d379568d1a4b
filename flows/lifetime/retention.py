"""What expires by its age: `[retention]` in `settings.toml`, applied by `slowwave lake retain` and by every night.

```toml
[retention]
texts_days = 365
evidence_days = 365
runs_days = 30
quarantine_days = 90
```

Every count stays. `texts_days`: the texts of old interactions go, once all evidence found in them is retained; ids,
times, whose, which memories were injected and cited and what it cost stay, of outcomes all but what the user said of
them, for strategies and errors are learned from every night. A day goes only as it was published last.
`evidence_days`: where memories were eligible, which no count needs; all other evidence is published from every night.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import astuple, dataclass, field, fields
from datetime import date, datetime, timedelta
from pathlib import Path

import polars as pl

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.storage.storage import storage_of
from slowwave.flows.kernel.terminal import size_shown
from slowwave.flows.kernel.times import is_run_id, utc_now
from slowwave.flows.lake.current import current_run, report_file, reports_folder
from slowwave.flows.lake.files import LakeFile
from slowwave.flows.lake.formats import mark_taken_from
from slowwave.flows.lake.lake import Lake
from slowwave.flows.lake.lifetime.horizons import (
    Horizon,
    Rule,
    declare_horizon,
    note_completed,
    read_completed_retention,
    read_horizon,
)
from slowwave.flows.lake.lifetime.raw_files import (
    find_rows_with_texts,
    measure_texts,
    read_raw_frames,
    remove_texts,
    retain_evidence,
    rewrite_rows,
)
from slowwave.flows.lake.run_ledger import name_of, read_run
from slowwave.flows.land.quarantine import kept_path
from slowwave.flows.publish.log_as_of import LogAsOf
from slowwave.flows.publish.plan import BuildPlan
from slowwave.transforms.core.schema import Landed
from slowwave.transforms.evidence.retained_evidence import (
    KeptReferences,
    KeptStatements,
    kept_references,
    kept_statements,
)
from slowwave.transforms.evidence.statements.tables import ExtractedStatements
from slowwave.transforms.evidence.tables import DayInputs, MemoryReferences, UseProbabilities
from slowwave.transforms.graph import EXPIRING
from slowwave.transforms.landing.erasure import TEXTS_OF
from slowwave.transforms.landing.ledger_tables import Quarantine, QuarantineResolved
from slowwave.transforms.landing.tables import Interactions, Memories

_DAY_SECONDS = 86_400
_LONGEST = 36_500


@dataclass(frozen=True)
class RetentionRules:
    """After how many days it expires, None never: what was published before, texts, evidence that no count needs."""

    runs_days: int | None = None
    quarantine_days: int | None = None
    texts_days: int | None = None
    evidence_days: int | None = None

    @property
    def is_any(self) -> bool:
        """Return whether anything expires by age."""
        return any(days is not None for days in astuple(self))


@dataclass
class ExpiredCounts:
    """How many of each thing a rule deletes, and bytes; how many days are old enough and left for a later night."""

    things: dict[str, int] = field(default_factory=dict)
    bytes: int = 0
    waiting_days: int = 0

    def note(self, thing: str, size: int, count: int = 1) -> None:
        """Note so many of one thing."""
        self.things[thing] = self.things.get(thing, 0) + count
        self.bytes += size


def read_retention_rules(settings: Settings) -> RetentionRules:
    """Return the rules that `settings.toml` states; none where it states none. Raises UserError if it is unusable."""
    stated = settings.read_section("retention", {one.name for one in fields(RetentionRules)})
    for name, days in stated.items():
        if isinstance(days, bool) or not isinstance(days, int) or not 1 <= days <= _LONGEST:
            message = f"{settings.settings_file} cannot be used: [retention] {name} is a number of whole days from 1 on"
            raise UserError(message)
    return RetentionRules(**stated)


def apply_retention(
    settings: Settings, lake: Lake, rules: RetentionRules, *, rehearses: bool = False
) -> dict[str, ExpiredCounts]:
    """Delete what is older than the rules say; return by rule what went. The caller holds the writer lock.

    `rehearses`: only counts. Raises OSError as the disk does; what went before stays gone.
    """
    expired = {}
    if rules.texts_days is not None:
        expired["texts"] = _expire_texts(settings, lake, rules.texts_days, rehearses=rehearses)
    if rules.evidence_days is not None:
        expired["evidence"] = _expire_evidence(lake, rules.evidence_days, rehearses=rehearses)
    if rules.runs_days is not None:
        expired["runs"] = _expire_runs(settings, rules.runs_days, rehearses=rehearses)
    if rules.quarantine_days is not None:
        expired["quarantine"] = _expire_refused_rows(lake, rules.quarantine_days, rehearses=rehearses)
    return expired


def describe_expired(expired: dict[str, ExpiredCounts]) -> str:
    """Return what went, in words; '' where nothing did."""
    things = [f"{count:,} × {thing}" for one in expired.values() for thing, count in one.things.items()]
    size = sum(one.bytes for one in expired.values())
    return f"{', '.join(things)}: {size_shown(size)}" if things else ""


def require_texts(root: Path, plan: BuildPlan) -> None:
    """Raises UserError where a publish of the past would have to search texts that have expired."""
    reached = read_horizon(root, "texts")
    if reached is None or plan.log.as_of >= reached.as_of:
        return
    days = [day.day for day in plan.to_build if day.day < reached.before]
    if days:
        message = (
            f"texts of days before {reached.before} have expired ([retention] texts_days), and a publish as of "
            f"{plan.log.as_of}Z would have to read those of {days[0]} anew: from {reached.as_of}Z on any can be had"
        )
        raise UserError(message)


# ----------------------------------------------------------------------------------------------------- texts, evidence


def _move_horizon(lake: Lake, rule: Rule, days: int) -> date:
    """Return the first day that does not expire: never earlier than it was before."""
    before = (utc_now() - timedelta(days=days)).date()
    reached = read_horizon(lake.root, rule)
    return max(before, reached.before) if reached else before


def _expire_texts(settings: Settings, lake: Lake, days: int, *, rehearses: bool) -> ExpiredCounts:
    """Delete the texts of days that ended so many days ago.

    A day is left for a later night where rows or memories have landed since it was published.
    """
    published = _PublishedDays(settings, lake)
    before = _move_horizon(lake, "texts", days)
    expired, again, waiting, is_declared = ExpiredCounts(), set[date](), set[date](), rehearses
    for table, day, files in _find_days_to_expire(lake, before):
        if not published.is_as_now(table, day):
            waiting.add(day)
            continue
        for file in files:
            hashes, unseen = find_rows_with_texts(table, file, published.as_of)
            again |= {day} if unseen else set()
            if hashes.is_empty():
                continue
            if not is_declared:
                mark_taken_from(lake.root)
                declare_horizon(lake.root, "texts", Horizon(before, published.as_of))
                is_declared = True
            size = measure_texts(table, file) if rehearses else _remove_texts(lake, published, table, file, hashes)
            expired.note(f"texts of {table.name}", size, len(hashes))
    if not rehearses and read_horizon(lake.root, "texts"):
        note_completed(lake.root, "texts", before, sorted(again | waiting))
    expired.waiting_days = len(waiting)
    return expired


def _find_days_to_expire(lake: Lake, before: date) -> Iterator[tuple[type[Landed], date, list[LakeFile]]]:
    """Yield the days before `before`, and their files that have not been looked at since they were written."""
    seen = read_completed_retention(lake.root, "texts")
    for table in TEXTS_OF:
        for day, files in lake.files(table.name).items():
            if day >= before:
                continue
            is_new = seen is None or day >= seen.before or day in seen.again
            fresh = [file for file in files if is_new or (seen and file.changed_at >= seen.at)]
            if fresh:
                yield table, day, fresh


def _remove_texts(lake: Lake, published: _PublishedDays, table: type[Landed], file: LakeFile, hashes: pl.Series) -> int:
    if table is Interactions:
        published.retain(lake, file.day, hashes)
    return remove_texts(table, file, published.as_of)


class _PublishedDays:
    """What the current publish found on each day, and whether it would find the same now."""

    def __init__(self, settings: Settings, lake: Lake) -> None:
        current = current_run(settings)
        name = current.stem if current else ""
        run = read_run(lake, current)
        inputs = lake.ledger(DayInputs).filter(pl.col("run_id") == name)
        self._days = {(row["landed_table"], row["day"]): row for row in inputs.iter_rows(named=True)}
        self.as_of: datetime = run["as_of"].item() if run.height else datetime.min  # noqa: DTZ901 - nothing is seen
        # a publish of the past saw less than there is
        self._is_of_now = run.height == 1 and self.as_of >= run["started_at"].item()
        self._log = LogAsOf(lake, self.as_of, settings.params())
        self._is_of_now = self._is_of_now and all(self._is_known(Memories, day) for day in self._log.files(Memories))

    def is_as_now(self, table: type[Landed], day: date) -> bool:
        """Return whether the day was published as it is now; of outcomes nothing is found that a publish must see."""
        return self._is_of_now and (table is not Interactions or self._is_known(table, day))

    def _is_known(self, table: type[Landed], day: date) -> bool:
        row = self._days.get((table.name, day))
        return row is not None and row["rows_signature"] == self._log.signature(table, day)

    def retain(self, lake: Lake, day: date, hashes: pl.Series) -> None:
        """Retain the evidence found in the texts of these rows. Raises UserError where the day has none any more."""
        row = self._days[Interactions.name, day]
        names = {table: name_of(table, row) for table in (MemoryReferences, UseProbabilities, ExtractedStatements)}
        if row["fingerprint"] and not all(lake.has_evidence(table, day, name) for table, name in names.items()):
            message = f"the evidence of {day} is gone, and its texts stay: run `slowwave nightly`"
            raise UserError(message)
        won = self._log.winners(Interactions, [day], ()).select("interaction_id", "row_hash").collect()
        won = won.filter(pl.col("row_hash").is_in(hashes.implode()))
        found = {
            table: lake.scan_evidence(table, {day: name} if row["fingerprint"] else {}).drop("day").collect()
            for table, name in names.items()
        }
        references = kept_references(found[MemoryReferences], found[UseProbabilities], won)  # pyright: ignore[reportArgumentType] - their rows
        retain_evidence(lake, KeptReferences, day, references, hashes)
        statements = kept_statements(found[ExtractedStatements], won)  # pyright: ignore[reportArgumentType] - its rows
        retain_evidence(lake, KeptStatements, day, statements, hashes)


def _expire_evidence(lake: Lake, days: int, *, rehearses: bool) -> ExpiredCounts:
    """Delete the partitions that may expire of days that ended so many days ago."""
    before = _move_horizon(lake, "evidence", days)
    expired, files = ExpiredCounts(), list[LakeFile]()
    for table in EXPIRING:
        old = [file for day, of_day in lake.files(f"evidence/{table.name}").items() if day < before for file in of_day]
        for file in old:
            expired.note(f"partition of {table.name}", file.size)
        files += old
    if files and not rehearses:
        declare_horizon(lake.root, "evidence", Horizon(before, utc_now()))
        storage_of(lake.root).remove(file.path for file in files)
    return expired


# ------------------------------------------------------------------------------------------------- runs, refused rows


def _expire_runs(settings: Settings, days: int, *, rehearses: bool) -> ExpiredCounts:
    """Delete files of old runs, never current, nor its report; a serving file ages since it ceased to be current."""
    expired, current = ExpiredCounts(), current_run(settings)
    kept = {current, report_file(settings, current.stem)} if current else set()
    for sort, path in _find_files_of_runs(settings):
        status = path.stat()
        if path not in kept and status.st_mtime < time.time() - days * _DAY_SECONDS:
            expired.note(sort, status.st_size)
            if not rehearses:
                path.unlink(missing_ok=True)
    return expired


def _find_files_of_runs(settings: Settings) -> Iterator[tuple[str, Path]]:
    for folder, sort in (("runs", "serving file"), ("as_of", "answer as of an earlier time")):
        yield from ((sort, path) for path in sorted((settings.serving / folder).glob("*.duckdb")))
    reports = sorted(reports_folder(settings).glob("*.html"))
    yield from (("report", path) for path in reports if is_run_id(path.stem) and not path.is_symlink())


def _expire_refused_rows(lake: Lake, days: int, *, rehearses: bool) -> ExpiredCounts:
    """Blank old refused rows: counts and reasons stay; without text and bytes they cannot be tried again."""
    expired, before = ExpiredCounts(), utc_now() - timedelta(days=days)
    storage, old, needed = storage_of(lake.root), set[str](), set[str]()
    for table in (Quarantine, QuarantineResolved):
        for files in lake.files(table.name).values():
            for file in files:
                rows = pl.concat(read_raw_frames(file.path))
                goes = _has_text(rows) & (rows["landed_at"] < before)
                if "kept_file" in rows.columns:
                    old |= set(rows.filter(goes)["kept_file"].drop_nulls())
                    needed |= set(rows.filter(~goes)["kept_file"].drop_nulls())
                for text in rows.filter(goes)["raw_text"]:
                    expired.note("text of a refused row", len(text.encode()))
                if goes.any() and not rehearses:
                    rewrite_rows(file.path, _blank_texts(rows, goes))
    for name in sorted(old - needed):
        path = kept_path(lake, name)
        if storage.exists(path):
            expired.note("file that could not be read", storage.size(path))
            if not rehearses:
                storage.remove([path])
    return expired


def _has_text(rows: pl.DataFrame) -> pl.Series:
    has_text = rows["raw_text"] != ""
    return has_text | rows["kept_file"].is_not_null() if "kept_file" in rows.columns else has_text


def _blank_texts(rows: pl.DataFrame, goes: pl.Series) -> pl.DataFrame:
    hit = pl.lit(goes)
    nothing = [pl.when(hit).then(None).otherwise(name).alias(name) for name in ("header", "kept_file")]
    blank = pl.when(hit).then(pl.lit("")).otherwise("raw_text").alias("raw_text")
    return rows.with_columns(blank, *(one for one in nothing if one.meta.output_name() in rows.columns))
