"""What an erasure takes: planned before anything goes, and written down in the lake until all of it is gone."""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from slowwave.flows.kernel.storage.storage import storage_of
from slowwave.flows.kernel.times import utc_now
from slowwave.flows.lake.files import LakeFile
from slowwave.flows.lake.formats import mark_taken_from
from slowwave.flows.lake.lake import Lake
from slowwave.flows.lake.lifetime.file_texts import join_row_texts
from slowwave.flows.lake.lifetime.raw_files import read_raw_frames
from slowwave.flows.lake.lifetime.tombstones import ERASE, compute_keyed_hash, intent_path, write_for_owner
from slowwave.transforms.core.schema import Landed
from slowwave.transforms.decisions.effects import decision_id, values_json
from slowwave.transforms.imports.stores.store_state import PUSHES, push_decisions
from slowwave.transforms.landing.decisions_table import Decisions
from slowwave.transforms.landing.erasure import ErasureRequest, find_erased_keys
from slowwave.transforms.landing.tables import LANDED, Interactions, Memories, Outcomes
from slowwave.transforms.language.text_windows import BETWEEN, Numbers, WindowSet, text_windows

# Kind (user, session, interaction or memory) and id.
ErasureTargets = tuple[tuple[str, str], ...]
# What can be named, and the column that says whose a row is.
KINDS = {"user": "user_id", "session": "session_id", "interaction": "interaction_id", "memory": "memory_id"}
_INTERNAL = ("row_hash", "key_hash")
_MOST_HASHES = 10_000  # of one decision
_SHOWN = 5
# Of a shorter id every text would tell: it is looked for as a whole value only.
_LEAST_ID = 4


class SearchTerms:
    """Ids and texts that are looked for in rows.

    An id stands in a row as a value, or in a text between what cannot be part of it.
    """

    def __init__(self, ids: Iterable[str], windows: WindowSet) -> None:
        self.ids = sorted({one for one in ids if one})
        self.windows = windows
        self._forms = {one: _compile_form(one) for one in self.ids}

    def match_rows(self, rows: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Return which rows name one of the ids, or hold one of the texts."""
        hits = np.zeros(len(rows), np.bool_)
        hits[self.windows.find_windows(rows)[0]] = True
        for place, _ in self.find_named_ids(rows):
            hits[place] = True
        return hits

    def find_named_ids(self, rows: Sequence[str]) -> Iterator[tuple[int, str]]:
        """Yield the places of rows, and the ids that each names."""
        if not self.ids or not rows:
            return
        texts = pl.Series(rows, dtype=pl.String)
        maybe = texts.str.contains_any(self.ids).arg_true()
        if maybe.is_empty():
            return
        several = texts.gather(maybe).str.extract_many(self.ids, overlapping=True)
        for place, ids in zip(maybe, several, strict=True):
            for one in ids.unique().sort():
                if self._forms[one].search(rows[int(place)]):
                    yield int(place), one

    def find_repeated_windows(self, rows: Sequence[str]) -> tuple[npt.NDArray[np.int64], Numbers]:
        """Return the places of rows that hold one of the texts, and which of their windows those are."""
        return self.windows.find_windows(rows)


def _compile_form(one: str) -> re.Pattern[str]:
    if len(one) < _LEAST_ID:
        return re.compile(f"{BETWEEN}{re.escape(one)}{BETWEEN}")
    return re.compile(rf"(?<![\w-]){re.escape(one)}(?![\w-])")


@dataclass(frozen=True)
class Erasure:
    """What goes.

    `targets`: kind and id, as they were named. `keys`: by landed table the ids of rows that go, `key_hashes` theirs.
    `ids`: all that is to stand nowhere any more, but for `named`, which rows of others name. `windows`: of the texts
    that stand in no other row. `rows`: how many versions of rows go, by landed table. `without_rows`: what was
    named and no row is of: it may be misspelt. `pushed`: the stores that memories of it were pushed to.
    """

    targets: ErasureTargets
    keys: Mapping[str, frozenset[str]]
    key_hashes: Mapping[str, list[int]]
    ids: frozenset[str]
    named: frozenset[str]
    windows: Numbers
    begun_at: datetime
    rows: Mapping[str, int] = field(default_factory=dict)
    without_rows: tuple[tuple[str, str], ...] = ()
    pushed: tuple[str, ...] = ()

    @property
    def sought(self) -> SearchTerms:
        """Return what is taken out wherever it stands."""
        return SearchTerms(self.ids, WindowSet(self.windows))

    @property
    def nowhere(self) -> SearchTerms:
        """Return what must stand nowhere in the end."""
        return SearchTerms(self.ids - self.named, WindowSet(self.windows))


@dataclass
class RepeatedRows:
    """Rows of others that name what goes, or repeat its texts: they stay. Versions by table, and a few keys."""

    naming: Counter[str] = field(default_factory=Counter)
    repeating: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)

    def note(self, kind: str, table: str, key: str) -> None:
        """Note one row."""
        (self.naming if kind == "naming" else self.repeating)[table] += 1
        shown, named = self.examples.setdefault(kind, []), f"{table}:{key}"
        if len(shown) < _SHOWN and named not in shown:  # of versions of one row it is named once
            shown.append(named)


def plan_erasure(lake: Lake, targets: ErasureTargets) -> tuple[Erasure, RepeatedRows]:
    """Return what goes with these targets, and what of it rows of others repeat. Every landed row is searched."""
    files = {table: [file for of_day in lake.files(table.name).values() for file in of_day] for table in LANDED}
    named = ErasureRequest(*(frozenset(name for kind, name in targets if kind == one) for one in KINDS))
    keys = find_erased_keys(named, {table: lake.scan_rows(table, files[table]) for table in LANDED})
    windows, rows, hashes, sessions = [], Counter[str](), {}, set[str]()
    owned = set[tuple[str, str]]()
    for table in LANDED:
        hashes[table.name] = set()
        for frame in _read_rows(table, files[table], keys, goes=True):
            hashes[table.name].update(frame["key_hash"])
            rows[table.name] += frame["row_hash"].n_unique()
            owned.update((kind, one) for kind, of in KINDS.items() if of in frame.columns for one in frame[of].unique())
            windows.append(text_windows([one for text in _join_texts(frame) for one in text.split(BETWEEN)]))
            if named.users and table in (Interactions, Outcomes):
                sessions.update(frame["session_id"].drop_nulls())
    ids = frozenset(name for _, name in targets).union(*keys.values(), sessions)
    all_windows = np.unique(np.concatenate(windows)) if windows else np.empty(0, np.uint64)
    sessions -= {name for kind, name in targets if kind == "session"}
    repeated, still, shared = _find_repeats(files, keys, SearchTerms(ids, WindowSet(all_windows)), sessions)
    ids -= sessions & still
    erasure = Erasure(
        targets=targets,
        keys=keys,
        key_hashes={name: sorted(found) for name, found in hashes.items()},
        ids=ids,
        named=frozenset(still & ids),
        windows=np.setdiff1d(all_windows, shared, assume_unique=True),
        begun_at=utc_now(),
        rows=dict(rows),
        without_rows=tuple(one for one in targets if one not in owned),
        pushed=_find_pushed_places(lake, keys[Memories.name]),
    )
    return erasure, repeated


def _find_pushed_places(lake: Lake, memory_ids: frozenset[str]) -> tuple[str, ...]:
    files = [file for of_day in lake.files(Decisions.name).values() for file in of_day]
    decided = lake.scan_rows(Decisions, files).filter(pl.col("command").is_in(PUSHES)).collect()
    return tuple(sorted({f"{one.store} {one.place}" for one in push_decisions(decided) if one.memory_id in memory_ids}))


def _find_repeats(
    files: Mapping[type[Landed], list[LakeFile]],
    keys: Mapping[str, frozenset[str]],
    sought: SearchTerms,
    sessions: Set[str],
) -> tuple[RepeatedRows, set[str], Numbers]:
    """Return the rows that stay and name or repeat what goes, the ids they name, and the windows they repeat.

    `sessions`: of a user's; a row that names one has had part in it, so that the session is not theirs alone and stays.
    """
    repeated, still, shared = RepeatedRows(), set[str](), [np.empty(0, np.uint64)]
    for table in LANDED:
        for frame in _read_rows(table, files[table], keys, goes=False):
            texts, own = _join_texts(frame), frame[table.key[0]]
            places, found = sought.find_repeated_windows(texts)
            shared.append(found)
            for place in places:
                repeated.note("repeating", table.name, own[int(place)])
            naming: dict[int, None] = {}
            for place, one in sought.find_named_ids(texts):
                still.add(one)
                if one not in sessions:
                    naming[place] = None
            for place in naming:
                repeated.note("naming", table.name, own[place])
    return repeated, still, np.unique(np.concatenate(shared))


def exclude_repeated(lake: Lake, erasure: Erasure) -> SearchTerms:
    """Return what must stand nowhere, without what landed rows name and repeat now: some may have come since."""
    files = {table: [file for of_day in lake.files(table.name).values() for file in of_day] for table in LANDED}
    nothing = dict.fromkeys((table.name for table in LANDED), frozenset[str]())
    sought = erasure.nowhere
    _, still, shared = _find_repeats(files, nothing, sought, frozenset())
    return SearchTerms(set(sought.ids) - still, sought.windows.without(shared))


def _read_rows(
    table: type[Landed], files: list[LakeFile], keys: Mapping[str, frozenset[str]], *, goes: bool
) -> Iterator[pl.DataFrame]:
    gone = pl.Series(sorted(keys[table.name]), dtype=pl.String).implode()
    if goes and not keys[table.name]:
        return
    for file in files:
        for frame in read_raw_frames(file.path):
            is_gone = pl.col(table.key[0]).is_in(gone)
            rows = frame.filter(is_gone if goes else ~is_gone)
            if rows.height:
                yield rows


def _join_texts(frame: pl.DataFrame) -> list[str]:
    return join_row_texts(frame.drop(_INTERNAL, strict=False))


# --------------------------------------------------------------------------------------------------------- tombstones


def make_tombstones(erasure: Erasure, key: bytes) -> list[dict[str, object]]:
    """Return the decisions that an erasure lands: keyed hashes of what was named, and of the ids of rows that went."""
    hashes = sorted(compute_keyed_hash(key, table, one) for table, ids in erasure.keys.items() for one in ids)
    hashes += [compute_keyed_hash(key, f"{kind}s" if kind == "interaction" else "memories", name)
               for kind, name in erasure.targets if kind in ("interaction", "memory")]  # fmt: skip
    found = []
    for at, (kind, name) in enumerate(erasure.targets):
        listed = hashes if at == 0 else []  # once for all that was named together
        for start in range(0, max(1, len(listed)), _MOST_HASHES):
            target = f"{kind}:{compute_keyed_hash(key, kind, name)}"
            values = {"hashes": listed[start : start + _MOST_HASHES]}
            at_once = {**values, "begun_at": erasure.begun_at.isoformat()}
            found.append(
                {
                    "decision_id": decision_id(ERASE, target, at_once, None),
                    "command": ERASE,
                    "target_kind": "row",
                    "target": target,
                    "values": values_json(values),
                    "reason": None,
                    "changed_by": "person",
                    "decided_at": erasure.begun_at,
                    "on_run_id": None,
                }
            )
    return found


# ------------------------------------------------------------------------------------------------------------- intent


def begin_erasure(lake: Lake, erasure: Erasure) -> None:
    """Write down what goes, for the lake's owner alone: from here on it goes. Raises OSError as the disk does."""
    mark_taken_from(lake.root)
    packed = io.BytesIO()
    np.save(packed, erasure.windows)
    write_for_owner(_windows_path(lake), packed.getvalue())
    said = {
        "asked": erasure.targets,
        "keys": {table: sorted(ids) for table, ids in erasure.keys.items()},
        "key_hashes": erasure.key_hashes,
        "ids": sorted(erasure.ids),
        "named": sorted(erasure.named),
        "begun_at": erasure.begun_at.isoformat(),
        "rows": erasure.rows,
        "without_rows": erasure.without_rows,
        "pushed": erasure.pushed,
    }
    write_for_owner(intent_path(lake.root), json.dumps(said).encode())


def read_unfinished_erasure(lake: Lake) -> Erasure | None:
    """Return what an erasure takes that has begun and not ended; None where there is none."""
    try:
        said = json.loads(storage_of(lake.root).read(intent_path(lake.root)))
    except FileNotFoundError:
        return None
    return Erasure(
        targets=tuple((kind, name) for kind, name in said["asked"]),
        keys={table: frozenset(ids) for table, ids in said["keys"].items()},
        key_hashes=said["key_hashes"],
        ids=frozenset(said["ids"]),
        named=frozenset(said["named"]),
        windows=np.load(io.BytesIO(storage_of(lake.root).read(_windows_path(lake)))),
        begun_at=datetime.fromisoformat(said["begun_at"]),
        rows=said["rows"],
        without_rows=tuple((kind, name) for kind, name in said.get("without_rows", ())),
        pushed=tuple(said.get("pushed", ())),
    )


def end_erasure(lake: Lake) -> None:
    """Remove what was written down: all of it is gone."""
    storage = storage_of(lake.root)
    storage.remove([intent_path(lake.root)])
    storage.remove([_windows_path(lake)])
    storage.purge()


def _windows_path(lake: Lake) -> Path:
    return intent_path(lake.root).with_name("intent.windows")
