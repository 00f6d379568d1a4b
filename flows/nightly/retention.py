"""What the owner lets go of by age: `[retention]` in `settings.toml`, by `slowwave lake retain` and by every night.

```toml
[retention]
texts_days = 365
evidence_days = 365
runs_days = 30
quarantine_days = 90
```

What rows, memories and days count for stays: see `retained` for how, where it is found in what goes.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields
from datetime import timedelta
from pathlib import Path

import polars as pl

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.run_ids import is_run_id, utc_now
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.storage.storage import storage_of
from slowwave.flows.kernel.terminal import size_shown
from slowwave.flows.lake.erased.raw_files import raw_frames, rewritten
from slowwave.flows.lake.lake import Lake
from slowwave.flows.lake.published import current_run, report_file, reports_folder
from slowwave.flows.land.quarantine import kept_path
from slowwave.flows.nightly.retained.evidence import let_evidence_go
from slowwave.flows.nightly.retained.let_go import LetGo
from slowwave.flows.nightly.retained.texts import let_texts_go
from slowwave.transforms.landing.ledger_tables import Quarantine, QuarantineResolved

_DAY_SECONDS = 86_400
_LONGEST = 36_500


@dataclass(frozen=True)
class Retention:
    """After how many days it goes, None never: what was published before, texts, evidence that no count needs."""

    runs_days: int | None = None
    quarantine_days: int | None = None
    texts_days: int | None = None
    evidence_days: int | None = None

    @property
    def is_any(self) -> bool:
        """Whether anything goes by age."""
        return any(days is not None for days in astuple(self))


def retention(settings: Settings) -> Retention:
    """The rules that `settings.toml` states; none where it states none. Raises UserError where it cannot be used."""
    stated = settings.read_section("retention", {one.name for one in fields(Retention)})
    for name, days in stated.items():
        if isinstance(days, bool) or not isinstance(days, int) or not 1 <= days <= _LONGEST:
            message = f"{settings.settings_file} cannot be used: [retention] {name} is a number of whole days from 1 on"
            raise UserError(message)
    return Retention(**stated)


def let_go(settings: Settings, lake: Lake, rules: Retention, *, rehearses: bool = False) -> dict[str, LetGo]:
    """Let go of what is older than the rules say; by rule what goes. The caller holds the writer lock.

    `rehearses`: nothing goes. Raises OSError as the disk does; what went before stays gone.
    """
    gone = {}
    if rules.texts_days is not None:
        gone["texts"] = let_texts_go(settings, lake, rules.texts_days, rehearses=rehearses)
    if rules.evidence_days is not None:
        gone["evidence"] = let_evidence_go(lake, rules.evidence_days, rehearses=rehearses)
    if rules.runs_days is not None:
        gone["runs"] = _let_runs_go(settings, rules.runs_days, rehearses=rehearses)
    if rules.quarantine_days is not None:
        gone["quarantine"] = _let_refused_go(lake, rules.quarantine_days, rehearses=rehearses)
    return gone


def _let_runs_go(settings: Settings, days: int, *, rehearses: bool) -> LetGo:
    """Never current, nor its report; a serving file is as old as it is since it ceased to be current."""
    gone, current = LetGo(), current_run(settings)
    kept = {current, report_file(settings, current.stem)} if current else set()
    for sort, path in _of_runs(settings):
        status = path.stat()
        if path not in kept and status.st_mtime < time.time() - days * _DAY_SECONDS:
            gone.note(sort, status.st_size)
            if not rehearses:
                path.unlink(missing_ok=True)
    return gone


def _of_runs(settings: Settings) -> Iterator[tuple[str, Path]]:
    for folder, sort in (("runs", "serving file"), ("as_of", "answer as of an earlier time")):
        yield from ((sort, path) for path in sorted((settings.serving / folder).glob("*.duckdb")))
    reports = sorted(reports_folder(settings).glob("*.html"))
    yield from (("report", path) for path in reports if is_run_id(path.stem) and not path.is_symlink())


def _let_refused_go(lake: Lake, days: int, *, rehearses: bool) -> LetGo:
    """Their counts and reasons stay; without text and bytes they cannot be tried again."""
    gone, before = LetGo(), utc_now() - timedelta(days=days)
    storage, old, needed = storage_of(lake.root), set[str](), set[str]()
    for table in (Quarantine, QuarantineResolved):
        for files in lake.files(table.name).values():
            for file in files:
                rows = pl.concat(raw_frames(file.path))
                goes = _is_told(rows) & (rows["landed_at"] < before)
                if "kept_file" in rows.columns:
                    old |= set(rows.filter(goes)["kept_file"].drop_nulls())
                    needed |= set(rows.filter(~goes)["kept_file"].drop_nulls())
                for text in rows.filter(goes)["raw_text"]:
                    gone.note("text of a refused row", len(text.encode()))
                if goes.any() and not rehearses:
                    rewritten(file.path, _without_texts(rows, goes))
    for name in sorted(old - needed):
        path = kept_path(lake, name)
        if storage.exists(path):
            gone.note("file that could not be read", storage.size(path))
            if not rehearses:
                storage.remove([path])
    return gone


def _is_told(rows: pl.DataFrame) -> pl.Series:
    is_told = rows["raw_text"] != ""
    return is_told | rows["kept_file"].is_not_null() if "kept_file" in rows.columns else is_told


def _without_texts(rows: pl.DataFrame, goes: pl.Series) -> pl.DataFrame:
    hit = pl.lit(goes)
    nothing = [pl.when(hit).then(None).otherwise(name).alias(name) for name in ("header", "kept_file")]
    blank = pl.when(hit).then(pl.lit("")).otherwise("raw_text").alias("raw_text")
    return rows.with_columns(blank, *(one for one in nothing if one.meta.output_name() in rows.columns))


def retained_line(gone: dict[str, LetGo]) -> str:
    """What went, in words; '' where nothing did."""
    things = [f"{count:,} × {thing}" for one in gone.values() for thing, count in one.things.items()]
    size = sum(one.bytes for one in gone.values())
    return f"{', '.join(things)}: {size_shown(size)}" if things else ""
