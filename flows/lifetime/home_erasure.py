"""Erase from the rest of a home once it is published anew: what was published before, and what was made of it.

Then every file of the home and of its lake is searched, decoded.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from slowwave.flows.imports.connections import connections
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.lock import server
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.storage.storage import storage_of
from slowwave.flows.kernel.terminal import format_count
from slowwave.flows.kernel.times import is_run_id
from slowwave.flows.lake.current import bucket_of, current_run, published_path, reports_folder
from slowwave.flows.lake.lake import Lake
from slowwave.flows.lake.lifetime.file_texts import decode_texts
from slowwave.flows.lake.lifetime.tombstones import intent_path
from slowwave.flows.lake.run_ledger import partition_names
from slowwave.flows.lifetime.erasure import Erasure, SearchTerms, exclude_repeated
from slowwave.flows.publish.states import run_of_state
from slowwave.transforms.evidence.tables import DayInputs
from slowwave.transforms.graph import SERVING
from slowwave.transforms.landing.tables import LANDED

_TABLES = frozenset(table.name for table in (*SERVING, *LANDED))


@dataclass
class HomeErasure:
    """Files removed from a home by sort, where it still stands, each with what to do, and how many were searched."""

    removed: Counter[str] = field(default_factory=Counter)
    remaining: list[str] = field(default_factory=list)
    searched: int = 0


def find_superseded_files(settings: Settings) -> Iterator[tuple[str, Path]]:
    """Yield what was published before current and what was made of it, each with its sort."""
    current = current_run(settings)
    for folder, sort in (("runs", "serving files"), ("as_of", "answers as of earlier times")):
        for path in sorted((settings.serving / folder).glob("*")):
            if path.is_file() and path != current:
                yield sort, path
    for path in sorted(reports_folder(settings).glob("*.html")):
        if is_run_id(path.stem) or path.is_symlink():
            yield "reports", path
    apart = {settings.inbox, settings.serving, settings.lake_folder}
    for root, folders, names in os.walk(settings.home):
        folders[:] = sorted(name for name in folders if Path(root, name) not in apart)
        for path in (Path(root, name) for name in sorted(names)):
            if path.stem in _TABLES and path.suffix in (".parquet", ".csv"):
                yield "exports", path


def erase_from_home(settings: Settings, lake: Lake, erasure: Erasure) -> HomeErasure:
    """Remove what was published before, with reports, exports and evidence, then search all files there are.

    Prefect's own record is removed where it stands in it; files that Slowwave did not write are named, and left to
    their owner.
    """
    found = HomeErasure()
    for sort, path in list(find_superseded_files(settings)):
        found.removed[sort] += not path.is_symlink()
        path.unlink(missing_ok=True)
    _erase_evidence(settings, lake, found)
    _erase_from_bucket(settings, found)
    sought = exclude_repeated(lake, erasure)
    for path in _find_searched_files(settings, lake):
        _search_file(settings, lake, path, sought, found)
    return found


def _erase_from_bucket(settings: Settings, found: HomeErasure) -> None:
    """In a bucket, remove what was published before, and delete all that was removed: what is erased waits no day."""
    bucket, current = bucket_of(settings), current_run(settings)
    if bucket is None:
        return
    published = bucket.files(published_path(settings, "any").parent)
    before = [path for path in published if current is None or path.stem != current.stem]
    bucket.remove(before)
    found.removed["serving files"] += len(before)
    bucket.purge()


def _erase_evidence(settings: Settings, lake: Lake, found: HomeErasure) -> None:
    current = current_run(settings)
    if current is None:
        return
    for files in lake.files(DayInputs.name).values():
        for file in files:
            if file.path.stem != current.stem:
                storage_of(file.path).remove([file.path])
    inputs = lake.ledger(DayInputs).filter(pl.col("run_id") == current.stem)
    wanted = set(partition_names(inputs).iter_rows())
    folder = lake.root / "evidence"
    for table in storage_of(folder).folders(folder):
        for day, files in lake.files(f"evidence/{table}").items():
            for file in files:
                is_state = run_of_state(file) == current.stem
                if not is_state and (table, day, file.path.stem) not in wanted:
                    storage_of(file.path).remove([file.path])
                    found.removed["evidence partitions"] += 1


def _search_file(settings: Settings, lake: Lake, path: Path, sought: SearchTerms, found: HomeErasure) -> None:
    root = lake.root if path.is_relative_to(lake.root) else settings.home
    shown = path.relative_to(root).as_posix()
    try:
        if not _is_in_file(path, sought, named=shown):
            found.searched += 1
            return
    except FileNotFoundError:
        return
    except OSError as error:
        found.remaining.append(f"{path} cannot be read ({error.strerror or error}): look yourself")
        return
    if path.is_relative_to(settings.prefect_home):
        _erase_prefect_record(settings, path, found)
    elif path.is_relative_to(lake.root) or path.is_relative_to(settings.serving):
        found.remaining.append(f"{path} still holds it: please report this")
    else:
        found.remaining.append(f"{path} holds it, and slowwave did not write it: remove it yourself")


def _erase_prefect_record(settings: Settings, path: Path, found: HomeErasure) -> None:
    """Remove it: Prefect keeps a record of runs for itself; without it, it begins a new one."""
    who = server(settings)
    if who is not None:
        found.remaining.append(f"{path} holds it, and {who} uses it: stop that, then remove the file")
        return
    for one in path.parent.glob(f"{path.name}*"):
        one.unlink(missing_ok=True)
    found.removed["records of Prefect"] += 1


def _find_searched_files(settings: Settings, lake: Lake) -> Iterator[Path]:
    """Yield every file of the home and of the lake, wherever that lies, but for what says what goes, and landed rows.

    What landed is searched by itself: rows of others may repeat what goes.
    """
    apart = {lake.root / table.name for table in LANDED}
    for root, folders, names in os.walk(settings.home):
        folders[:] = sorted(name for name in folders if Path(root, name) != lake.root)
        yield from (path for name in sorted(names) if _is_regular_file(path := Path(root, name)))
    intent = intent_path(lake.root)
    for path in _walk_lake(lake.root, apart):
        if path.parent != intent.parent or not path.name.startswith("intent."):
            yield path


def _walk_lake(folder: Path, apart: set[Path]) -> Iterator[Path]:
    storage = storage_of(folder)
    for name in dict.fromkeys([*storage.folders(folder), *(path.name for path in storage.files(folder))]):
        path = folder / name
        if storage.is_folder(path):
            if path not in apart:
                yield from _walk_lake(path, apart)
        elif storage.exists(path):
            yield path


def _is_in_file(path: Path, sought: SearchTerms, *, named: str) -> bool:
    """Return whether it stands in a file, or in its name. Raises OSError where it cannot be read."""
    if sought.match_rows([named])[0]:
        return True
    return any(sought.match_rows(texts).any() for texts in decode_texts(path))


def _is_regular_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except FileNotFoundError:
        return False


def describe_outside(settings: Settings, lake: Lake, pushed: Sequence[str]) -> list[str]:
    """Return what lies outside of the home and is not searched, a line each; `pushed`: stores that it was pushed to."""
    lines = ["backups, and copies of the home or the lake", "exports and reports that were written elsewhere"]
    lines += [f"{one}, which what was known of its memories was pushed to: take them out there" for one in pushed]
    lines += ["the logs of the producers themselves, and stores that were imported from"]
    try:
        lines += [f"{one.place}, which is connected: every nightly reads it" for one in connections(settings)]
    except UserError:
        lines.append(f"the sources in {settings.connections_file}")
    notes = lake.root / "kept_runs"
    homes = len(storage_of(notes).files(notes)) - 1
    if homes > 0:
        lines.append(f"what {format_count(homes, 'other home')} over this lake published: run the same command there")
    if bucket_of(settings) is not None:
        lines.append("copies in other homes that have read this lake, and old versions where the bucket keeps them")
    if not settings.prefect_home.is_relative_to(settings.home):
        lines.append(f"Prefect's own record in {settings.prefect_home}")
    return lines
