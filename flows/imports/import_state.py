"""What is kept in the lake from one import to the next: which units were read, and what was seen of stores.

`lake/imports/ADAPTER.json` has an entry per unit: its state, how it was read, and the turns in it. Without it all is
read anew, to the same rows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson
import polars as pl
import zstandard

from slowwave.flows.imports.units import Unit, home_shortened
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.storage.storage import storage_of
from slowwave.flows.kernel.store import write_durably
from slowwave.flows.kernel.times import utc_now
from slowwave.flows.lake.lake import Lake
from slowwave.flows.lake.lifetime.tombstones import read_tombstones
from slowwave.transforms.core.hashing import digest
from slowwave.transforms.imports.forks import Outline, SeenTurn
from slowwave.transforms.imports.stores.store_state import (
    PUSHES,
    Pushed,
    ReadBefore,
    SeenMemory,
    StoreSnapshot,
    pushed_values,
)
from slowwave.transforms.landing.decisions_table import Decisions
from slowwave.transforms.landing.ledger_tables import RunFiles
from slowwave.transforms.landing.tables import Memories

# ------------------------------------------------------------------------------------------
# What is known of units that were imported, so that an unchanged one is not read again.
# `lake/imports/ADAPTER.json` has an entry per unit: its state, how it was read, and the turns in it. Without it all
# is read anew, to the same rows.

FOLDER = "imports"
# One per transcript: of more, those imported longest ago are read again.
_MOST_UNITS = 200_000


@dataclass
class _UnitEntry:
    """What is known of a unit: `regained` are turns of it that had been delivered as another's, and how often.

    `has_earlier`: an earlier version of the adapter read it too.
    """

    state: dict[str, Any]
    reading: dict[str, Any]
    regained: dict[str, int] = field(default_factory=dict)
    outline: dict[str, Any] | None = None
    has_earlier: bool = False


class Cursors:
    """The units of one adapter that were imported; `reading` says how, so that other options read them again."""

    def __init__(self, lake: Path, adapter: str, reading: dict[str, Any]) -> None:
        self._path = lake / FOLDER / f"{adapter}.json"
        self._reading = reading
        self._entries: dict[str, _UnitEntry] = {}
        try:
            stated = json.loads(storage_of(self._path).read(self._path))
            self._entries = {name: _UnitEntry(**entry) for name, entry in stated.items()}
        except (OSError, ValueError, TypeError, AttributeError):  # as if nothing were known
            self._entries = {}
        self._is_new = not self._entries

    @property
    def folder(self) -> Path:
        """Where what imports know is kept."""
        return self._path.parent

    def is_as_it_was(self, unit: Unit) -> bool:
        """Whether nothing was written to a unit since it was imported."""
        entry = self._entries.get(unit.key)
        return entry is not None and entry.state == unit.state

    def is_unchanged(self, unit: Unit, *, is_idle: bool, copies: frozenset[str]) -> bool:
        """Whether a unit was imported as it is now, read in the same way."""
        entry = self._entries.get(unit.key)
        return self.is_as_it_was(unit) and entry is not None and entry.reading == self._as_read(is_idle, copies)

    def may_have_earlier(self, unit: Unit) -> bool:
        """Whether an earlier version of the adapter read a unit, or it is not known what was read at all."""
        entry = self._entries.get(unit.key)
        if entry is None:
            return self._is_new
        return entry.has_earlier or entry.reading.get("v") != self._reading.get("v")

    def count_regained_turns(self) -> dict[str, int]:
        """Turns, by what they were called first, that had been delivered as another session's, and how often."""
        found: dict[str, int] = {}
        for entry in self._entries.values():
            for turn, times in entry.regained.items():
                found[turn] = max(times, found.get(turn, 0))
        return found

    def outlines(self) -> dict[str, Outline]:
        """The turns of all units that were imported, by their keys."""
        found = {}
        for key, entry in self._entries.items():
            if (stated := entry.outline) is not None:
                turns = {turn: SeenTurn("", at) for turn, at in stated["turns"].items()}
                copied_from, modified_at = stated["copied_from"], stated["modified_at"]
                found[key] = Outline(stated["session"], turns, copied_from, modified_at)
        return found

    def note(
        self, unit: Unit, outline: Outline | None, *, is_idle: bool, copies: frozenset[str], regained: dict[str, int]
    ) -> None:
        """A unit was imported as it is."""
        has_earlier = self.may_have_earlier(unit)
        entry = _UnitEntry(unit.state, self._as_read(is_idle, copies), regained, has_earlier=has_earlier)
        if outline is not None:
            entry.outline = {
                "session": outline.session,
                "turns": {turn: seen.at for turn, seen in outline.turns.items()},
                "copied_from": outline.copied_from,
                "modified_at": outline.modified_at,
            }
        key = unit.key
        self._entries.pop(key, None)
        self._entries[key] = entry

    def _as_read(self, is_idle: bool, copies: frozenset[str]) -> dict[str, Any]:
        return {**self._reading, "is_idle": is_idle, "copies": digest(sorted(copies))}

    def save(self) -> None:
        """Make it durable. Raises OSError as the disk does."""
        kept = {key: vars(entry) for key, entry in list(self._entries.items())[-_MOST_UNITS:]}
        write_durably(self._path, lambda aside: aside.write_text(json.dumps(kept), encoding="utf-8"))


# ------------------------------------------------------------------------------------------
# What was seen of the stores of one kind, kept in the lake from one import to the next.
# It and the delivery that it tells of come to count together: it is written aside first, then the delivery is put
# into the inbox, then it takes its place. After a kill in between it counts if the delivery is in the inbox, or has
# landed.

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - times are naive and hold UTC everywhere


class SeenFile:
    """`lake/imports/ADAPTER.seen.zst`. Only the holder of the writer lock may call it.

    `is_kept` false: for a rehearsal, of which nothing stays.
    """

    def __init__(
        self,
        lake: Lake,
        inbox: Path,
        adapter: str,
        version: int,
        *,
        is_kept: bool = True,
        accepts_vanished: bool = False,
    ) -> None:
        self.folder = lake.root / FOLDER
        self._path = self.folder / f"{adapter}.seen.zst"
        self._expected = self.folder / f"{adapter}.seen-expected.zst"
        self._is_kept = is_kept
        self._accepts_vanished = accepts_vanished
        self._lake = lake
        if is_kept:
            self._recover(lake, inbox)
        stated = _read_state(self._path)
        self._seen = StoreSnapshot(version) if stated is None else stated["seen"]
        self._next = self._seen
        self._is_expected = False

    def before(self, unit: Unit) -> ReadBefore:
        """What a unit is to be read beside; what comes of it counts once `settle` is called."""
        seen, key = self._seen.copy(), unit.key
        seen.stores[key] = home_shortened(Path(unit.name))
        absent = frozenset(other for other, place in seen.stores.items() if not Path(place).expanduser().exists())
        told = (self._pushed, self._is_erased, self._find_known)
        return ReadBefore(key, seen, utc_now(), absent, self._accepts_vanished, *told)

    def _find_known(self, memory_ids: Collection[str]) -> Mapping[str, Mapping[str, str]]:
        """The last landed content and status of memories; what is still in the inbox is not known."""
        files = [file for of_day in self._lake.files(Memories.name).values() for file in of_day]
        rows = self._lake.scan_rows(Memories, files).filter(pl.col("memory_id").is_in(list(memory_ids)))
        last = pl.col("content", "status").sort_by("changed_at", "recorded_at", "row_hash").drop_nulls().last()
        found = rows.group_by("memory_id").agg(last).collect()
        return {
            memory_id: {name: value for name, value in said.items() if value is not None}
            for memory_id, *values in found.iter_rows()
            for said in [dict(zip(("content", "status"), values, strict=True))]
        }

    @cached_property
    def _is_erased(self) -> Callable[[str], bool]:
        keys = read_tombstones(self._lake.root)
        return lambda memory_id: keys is not None and keys.is_erased(Memories.name, memory_id)

    @cached_property
    def _pushed(self) -> Pushed:
        """What was pushed to stores."""
        files = [file for of_day in self._lake.files(Decisions.name).values() for file in of_day]
        rows = self._lake.scan_rows(Decisions, files).filter(pl.col("command").is_in(PUSHES))
        return pushed_values(rows.collect())

    def expect(self, seen: StoreSnapshot, deliveries: list[str]) -> None:
        """Write down what will have been landed once these deliveries are in the inbox. Raises OSError."""
        self._next = seen
        if self._is_kept and (deliveries or seen != self._seen):
            packed = zstandard.compress(orjson.dumps({**_encode_seen(seen), "deliveries": deliveries}))
            write_durably(self._expected, lambda aside: aside.write_bytes(packed))
            self._is_expected = True

    def settle(self) -> None:
        """The deliveries are in the inbox: what was expected counts. Raises OSError."""
        self._seen = self._next
        if self._is_expected:
            self._takes_its_place()
            self._is_expected = False

    def _recover(self, lake: Lake, inbox: Path) -> None:
        stated = _read_state(self._expected)
        if stated is None:
            return
        deliveries = stated["deliveries"]
        is_there = any((inbox / name).exists() for name in deliveries)
        if (
            not deliveries
            or is_there
            or not lake.ledger(RunFiles).filter(pl.col("source").is_in(deliveries)).is_empty()
        ):
            self._takes_its_place()
        else:
            storage_of(self._expected).remove([self._expected])  # it never came to count: the store is read again

    def _takes_its_place(self) -> None:
        """Killed in between, it takes its place once more."""
        storage = storage_of(self._expected)
        packed = storage.read(self._expected)
        storage.write(self._path, lambda aside: aside.write_bytes(packed))
        storage.remove([self._expected])


def has_been_seen(lake: Path, adapter: str) -> bool:
    """Whether a store of this adapter was ever imported into a lake."""
    path = lake / FOLDER / f"{adapter}.seen.zst"
    return storage_of(path).exists(path)


def _read_state(path: Path) -> dict[str, Any] | None:
    """What the file states, with `seen` as it means it; None where there is none. Raises UserError."""
    try:
        stated = orjson.loads(zstandard.decompress(storage_of(path).read(path)))
        return {**stated, "seen": _parse_seen_store(stated)}
    except FileNotFoundError:
        return None
    except (zstandard.ZstdError, ValueError, KeyError, TypeError, AttributeError) as error:
        message = (
            f"{path} is damaged ({error}): put it back from a backup of the lake, or remove it; without it, what is "
            "gone from a store is not known, and changes of which the store keeps no time land anew"
        )
        raise UserError(message) from error


def _encode_seen(seen: StoreSnapshot) -> dict[str, Any]:
    memories = {
        memory_id: [_microseconds(one.at), one.is_live, dict(one.digests), sorted(one.stores)]
        for memory_id, one in seen.memories.items()
    }
    return {"version": seen.version, "memories": memories, "rows": seen.rows, "stores": seen.stores}


def _parse_seen_store(stated: dict[str, Any]) -> StoreSnapshot:
    memories = {
        memory_id: SeenMemory(_EPOCH + timedelta(microseconds=at), is_live, digests, frozenset(stores))
        for memory_id, (at, is_live, digests, stores) in stated["memories"].items()
    }
    return StoreSnapshot(stated["version"], memories, stated["rows"], stated["stores"])


def _microseconds(at: datetime) -> int:
    return (at - _EPOCH) // timedelta(microseconds=1)
