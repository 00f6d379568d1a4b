"""An import of one source: units are found, read by their adapter, and each becomes a durable delivery in the inbox.

Rows and refused records of a unit are delivered apart: a transcript that grows brings its rows again, which are
recognised, and what was refused in it is then the same file as before.
"""

from __future__ import annotations

import re
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import polars as pl

from slowwave.flows.imports.deliveries import delivery_packer, delivery_writer, remove_left
from slowwave.flows.imports.files import IDLE_SECONDS
from slowwave.flows.imports.import_state import FOLDER, Cursors, SeenFile
from slowwave.flows.imports.sources import SOURCES, Source, found_under, is_store
from slowwave.flows.imports.trace_parts import kept_parts
from slowwave.flows.imports.units import FoundUnits, NotImported, Unit, UnreadableUnitError
from slowwave.flows.kernel.errors import UserError, WrongUsageError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.lake.lake import Lake
from slowwave.transforms.core.hashing import digest
from slowwave.transforms.imports.adapter import (
    AGAIN,
    Adapter,
    Context,
    Located,
    Made,
    OptionsError,
    Refused,
    Repaired,
    projects_by,
)
from slowwave.transforms.imports.delivery_lines import (
    OTHER_KINDS,
    UNREADABLE,
    DeliveryFilter,
    Tally,
    delivery_lines,
    kinds_of_records,
)
from slowwave.transforms.imports.forks import Outline, Owners, owners
from slowwave.transforms.landing.tables import Interactions, Outcomes

# ------------------------------------------------------------------------------------------
# Which turns of the units of an import are copies of another session's, by what all units hold, read before or now.

_NOBODYS: frozenset[str] = frozenset()


class CopiedTurns:
    """Looks through units whose sessions can be forked before any is imported."""

    def __init__(self, units: Sequence[Unit], cursors: Cursors | None) -> None:
        known = cursors.outlines() if cursors is not None else {}
        self._before: Owners = owners(known.values())
        self._outlines: dict[str, Outline] = {}
        for unit in units:
            if unit.outline is None:
                continue
            cached = known.get(unit.key) if cursors is not None and cursors.is_as_it_was(unit) else None
            self._outlines[unit.key] = cached or unit.outline()
        self._known = known
        self._times = cursors.count_regained_turns() if cursors is not None else {}
        self._now = owners((known | self._outlines).values())

    def outline(self, unit: Unit) -> Outline | None:
        """The turns of a unit, with the interactions that they make, which cursors do not keep."""
        outline = self._outlines.get(unit.key)
        if outline is not None and unit.outline is not None and outline is self._known.get(unit.key):
            outline = self._outlines[unit.key] = unit.outline()
        return outline

    def copies(self, unit: Unit) -> frozenset[str]:
        """The turns of a unit that are another session's."""
        outline = self._outlines.get(unit.key)
        return self._now.copies(outline) if outline is not None else _NOBODYS

    def count_regained_turns(self, unit: Unit) -> dict[str, int]:
        """The turns of a unit that were delivered as another session's, or as of several, and how often."""
        outline = self._outlines.get(unit.key)
        if outline is None:
            return {}
        found: dict[str, int] = {}
        for turn in outline.turns.keys() - self._now.copies(outline):
            was_another = self._before.of(turn) not in (None, outline.session)
            times = max(self._times.get(name, 0) for name in self._now.names(turn)) + was_another
            if times:
                found[turn] = times
        return found

    def first_names(self, regained: Mapping[str, int]) -> dict[str, int]:
        """The same by what the turns were called first, as cursors keep them."""
        return {self._now.names(turn)[-1]: times for turn, times in sorted(regained.items())}


# ------------------------------------------------------------------------------------------
# Rows that earlier versions of an adapter made: those of a later one win over them, whatever times they state.


def find_earlier_rows(lake: Lake, adapter: Adapter) -> Mapping[str, datetime]:
    """Return by id of a row when its last version was recorded, of rows that earlier versions of the adapter made."""
    found: dict[str, datetime] = {}
    provenance = pl.col("extra").str.json_path_match
    for table in (Interactions, Outcomes):
        files = [file for of_day in lake.files(table.name).values() for file in of_day]
        if not files:
            continue
        (key,) = table.key
        rows = (
            lake.scan_files(table, files, [key, "recorded_at", "extra"])
            .filter(pl.col("extra").str.contains(f'"{adapter.name}"', literal=True))
            .filter(
                provenance("$.provenance.adapter") == adapter.name,
                provenance("$.provenance.v").cast(pl.Int64, strict=False) < adapter.version,
            )
            .group_by(key)
            .agg(pl.col("recorded_at").max())
            .collect()
        )
        found |= dict(rows.iter_rows())
    return found


# ------------------------------------------------------------------------------------------
# One import: units are found, read by their adapter, and each becomes a durable delivery in the inbox.
# Rows and refused records of a unit are delivered apart: a transcript that grows brings its rows again, which are
# recognised, and what was refused in it is then the same file as before.


@dataclass(frozen=True)
class ImportOptions:
    """How units are read: rows of before `since` (UTC) are left out, `projects` by directory, and what settings say."""

    since: datetime | None = None
    projects: Mapping[str, str] = field(default_factory=dict)
    infers: bool = True
    settings: Mapping[str, Any] = field(default_factory=dict)

    def as_state(self, adapter: Adapter) -> dict[str, Any]:
        """What of it decides which rows are made."""
        stated = [str(self.since), repr(sorted(self.projects.items())), str(self.infers), repr(self.settings)]
        return {"v": adapter.version, "options": digest(stated)}


@dataclass
class ImportReport:
    """What an import made: units read and unchanged ones, by producer; counts of rows; and what was not imported."""

    units: int = 0
    unchanged: int = 0
    producers: dict[str, int] = field(default_factory=dict)
    bytes: int = 0
    tally: Tally = field(default_factory=Tally)
    others: list[NotImported] = field(default_factory=list)
    deliveries: list[Path] = field(default_factory=list)

    @property
    def faults(self) -> list[str]:
        """What was to be imported and could not be."""
        return [f"{one.name} {one.why}" for one in self.others if one.is_fault]


class Import:
    """The import of some paths by one adapter into `folder`; with `cursors`, units that have not changed are passed.

    `seen`: what was seen of stores, for an adapter that reads them beside it. `earlier` finds the rows that earlier
    versions of the adapter made, where `cursors` tell that there are some.
    """

    def __init__(
        self,
        adapter: Adapter,
        folder: Path,
        options: ImportOptions,
        cursors: Cursors | None = None,
        progress: Callable[[int, int], None] | None = None,
        seen: SeenFile | None = None,
        earlier: Callable[[], Mapping[str, datetime]] = dict,
    ) -> None:
        self.adapter = adapter
        self.folder = folder
        self.options = options
        self.cursors = cursors
        self.report = ImportReport()
        self._seen = seen
        self._find_earlier = earlier
        self._deliveries: set[Path] = set()
        self._packers = delivery_packer(), delivery_packer()
        self._progress = progress or (lambda *_: None)

    def run(self, found: FoundUnits) -> ImportReport:
        """Deliver every unit; what cannot be read is noted, and the others go on.

        Raises OSError of a full disk, and UserError where the settings of the source cannot be used.
        """
        remove_left(self.folder)
        self.report.others += found.others
        total, done = sum(unit.size for unit in found.units), 0
        copied = CopiedTurns(found.units, self.cursors)
        for unit in found.units:
            self._unit(unit, copied)
            done += unit.size
            self._progress(done, total)
        return self.report

    @cached_property
    def _earlier(self) -> Mapping[str, datetime]:
        """Looked for only where it is asked: all that the adapter made is read for it."""
        return self._find_earlier()

    def _unit(self, unit: Unit, copied: CopiedTurns) -> None:
        is_idle = time.time() - unit.modified_at >= IDLE_SECONDS
        copies, regained = copied.copies(unit), copied.count_regained_turns(unit)
        if self.cursors is not None and self.cursors.is_unchanged(unit, is_idle=is_idle, copies=copies):
            self.report.unchanged += 1
            return
        outline = copied.outline(unit)
        wanted = DeliveryFilter(
            self.options.since,
            frozenset(_interaction_of(outline, turn) for turn in copies),
            {_interaction_of(outline, turn): times for turn, times in regained.items()},
            self._earlier if self.cursors is not None and self.cursors.may_have_earlier(unit) else {},
        )
        is_all = self._is_imported(unit, wanted, is_idle=is_idle)
        if is_all and self.cursors is not None:
            regained = copied.first_names(regained)
            self.cursors.note(unit, outline, is_idle=is_idle, copies=copies, regained=regained)

    def _is_imported(self, unit: Unit, wanted: DeliveryFilter, *, is_idle: bool) -> bool:
        """Whether all of a unit was delivered; what was not is noted."""
        tally = Tally()
        reading = _UnitReading(unit, self.adapter, tally)
        before = None if self._seen is None else self._seen.before(unit)
        options = self.options
        rested_before = utc_moment(datetime.now(UTC)) - timedelta(seconds=IDLE_SECONDS)
        context = Context(
            projects_by(options.projects), is_idle, options.infers, options.settings, before, rested_before
        )
        try:
            delivered = self._write_deliveries(reading, context, tally, wanted)
        except UnreadableUnitError as error:
            return self._note(unit, str(error))
        except OSError as error:
            if error.filename is not None and self._is_ours(Path(str(error.filename))):
                raise
            return self._note(unit, f"cannot be read: {error.strerror or error}")
        except OptionsError as error:
            message = f"settings.toml, [imports.{self.adapter.name}], cannot be used: {error}"
            raise UserError(message) from error
        except Exception as error:  # noqa: BLE001 - whatever it is, the other units are imported
            said = ": ".join([type(error).__name__, *str(error).strip().splitlines()[:1]])
            return self._note(unit, f"was not imported: slowwave failed on it, a fault of slowwave ({said[:300]})")
        self._count(unit, tally, delivered)
        for said in tally.undecided:
            self._note(unit, said)
        if reading.fault:
            self._note(unit, f"was imported up to where it breaks off: {reading.fault}")
        return not reading.fault and not tally.undecided

    def _count(self, unit: Unit, tally: Tally, delivered: list[Path]) -> None:
        report = self.report
        report.units += 1
        report.bytes += unit.size
        report.producers[unit.producer] = report.producers.get(unit.producer, 0) + 1
        fresh = [path for path in delivered if path not in self._deliveries]
        if fresh or not delivered:  # else it is a copy of another unit, whose rows are counted
            report.tally.add(tally)
        report.deliveries += fresh
        self._deliveries.update(fresh)

    def _is_ours(self, path: Path) -> bool:
        """Whether it is something that we write, and not what is imported."""
        known = [each.folder for each in (self._seen, self.cursors) if each is not None]
        written = [self.folder, *known]
        return any(path.is_relative_to(folder) for folder in written)

    def _note(self, unit: Unit, why: str) -> bool:
        """Note why not all of a unit was delivered; gives False."""
        self.report.others.append(NotImported(unit.name, why, is_fault=True))
        return False

    def _write_deliveries(
        self, reading: _UnitReading, context: Context, tally: Tally, wanted: DeliveryFilter
    ) -> list[Path]:
        with (
            delivery_writer(self.folder, self.adapter.name, self._packers[0]) as rows,
            delivery_writer(self.folder, self.adapter.name, self._packers[1]) as refused,
        ):
            made = reading.make_rows(context)
            for line in delivery_lines(made, self.adapter, tally, wanted, reading.name):
                (refused if line.is_refused else rows).write(line.text)
            if self._seen is not None and context.before is not None:
                self._seen.expect(context.before.seen, [name for name in (rows.close(), refused.close()) if name])
            delivered = [path for path in (rows.finish(), refused.finish()) if path is not None]
            if self._seen is not None:
                self._seen.settle()
            return delivered


def _interaction_of(outline: Outline | None, turn: str) -> str:
    return outline.turns[turn].interaction_id if outline is not None else ""


class _UnitReading:
    """The records of a unit on their way to its adapter; what is none goes round it."""

    def __init__(self, unit: Unit, adapter: Adapter, tally: Tally) -> None:
        self._unit = unit
        self._adapter = adapter
        self._kind_of = kinds_of_records(adapter)
        self._tally = tally
        self._beside: list[Made] = []
        self.name = re.split(r"[/\\]", unit.name)[-1]
        self.fault = ""

    def make_rows(self, context: Context) -> Iterator[Made]:
        """What the adapter makes, and what could not be read; the records are counted by kind."""
        for one in self._adapter.make_rows(self._records(), context):
            yield one
            yield from self._take_beside()
        yield from self._take_beside()

    def _take_beside(self) -> Sequence[Made]:
        taken, self._beside = self._beside, []
        return taken

    def _records(self) -> Iterator[Located]:
        try:
            for one in self._unit.read():
                if isinstance(one, Located) and one.number == AGAIN:
                    yield one
                elif isinstance(one, Located):
                    self._tally.count_record(self._kind_of(one.record))
                    yield one
                else:
                    self._beside.append(one)
                    if isinstance(one, Repaired):
                        continue
                    is_refused = isinstance(one, Refused)
                    self._tally.count_record(UNREADABLE if is_refused else OTHER_KINDS, 1 if is_refused else one.count)
        except UnreadableUnitError as error:
            if self._unit.is_one_piece:
                raise
            self.fault = str(error)


def utc_moment(moment: datetime) -> datetime:
    """A moment as the options have it: UTC without a zone."""
    return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment


_SECTION = "imports"


def source_settings(settings: Settings, name: str) -> Mapping[str, object]:
    """What `settings.toml` says of a source, in `[imports.NAME]`. Raises UserError."""
    return settings.read_section(_SECTION, {each.name for each in SOURCES}).get(name, {})


def found_by(
    settings: Settings, source: Source, paths: Iterable[Path], options: ImportOptions, *, is_kept: bool = True
) -> FoundUnits:
    """What a source has under some paths; `is_kept` false: nothing is to stay of it.

    Raises UserError where a path cannot be listed, or the settings of the source cannot be used.
    """
    try:
        folder = settings.lake_folder / FOLDER
        kept = kept_parts(folder, source.name, options.settings, is_written=is_kept)
        return found_under(source, paths, settings.longest_row, kept)
    except OptionsError as error:
        message = f"settings.toml, [imports.{source.name}], cannot be used: {error}"
        raise UserError(message) from error
    except OSError as error:
        message = f"{error.filename} cannot be read: {error.strerror}"
        raise UserError(message) from error


def importer(
    settings: Settings,
    lake: Lake,
    source: Source,
    options: ImportOptions,
    *,
    accepts_vanished: bool = False,
    rehearsed_in: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Import:
    """An import into the inbox, by the holder of the writer lock; or, of which nothing stays, into another folder.

    Raises UserError where what was seen of stores cannot be read.
    """
    is_kept = rehearsed_in is None
    adapter, seen = source.adapter, None
    if is_store(source):
        kept = {"is_kept": is_kept, "accepts_vanished": accepts_vanished}
        seen = SeenFile(lake, settings.inbox, adapter.name, adapter.version, **kept)
    cursors = Cursors(lake.root, source.name, options.as_state(adapter)) if is_kept else None
    earlier = partial(find_earlier_rows, lake, adapter)
    return Import(adapter, rehearsed_in or settings.inbox, options, cursors, progress, seen, earlier)


def project_map(path: str | None) -> Mapping[str, str]:
    """Projects by directory, of a TOML file. Raises WrongUsageError where it is none."""
    if path is None:
        return {}
    try:
        stated = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        message = f"the project map {path} cannot be used: {error}"
        raise WrongUsageError(message) from error
    wrong = next((name for name, project in stated.items() if not isinstance(project, str)), None)
    if wrong is not None:
        message = f'the project map {path} cannot be used: write "FOLDER" = "PROJECT" for {wrong!r}'
        raise WrongUsageError(message)
    return stated
