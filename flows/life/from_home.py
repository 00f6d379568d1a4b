"""What goes from the rest of a home once it is published anew: what was published before, and what was made of it.

Then all there is, is looked through.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from slowwave.flows.imports.connections import connections
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.lock import server
from slowwave.flows.kernel.run_ids import is_run_id
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.storage.storage import storage_of
from slowwave.flows.kernel.terminal import format_count
from slowwave.flows.lake.current.pointer import bucket_of, published_path
from slowwave.flows.lake.lake import Lake
from slowwave.flows.lake.partitions import partition_names
from slowwave.flows.lake.published import current_run, reports_folder
from slowwave.flows.life.erasure import Erasure, repeated_now
from slowwave.flows.life.search import home_files, stands_in
from slowwave.flows.life.texts import Sought
from slowwave.flows.publish.states import run_of_state
from slowwave.transforms.evidence.tables import DayInputs
from slowwave.transforms.graph import SERVING
from slowwave.transforms.landing.tables import LANDED

_TABLES = frozenset(table.name for table in (*SERVING, *LANDED))


@dataclass
class Looked:
    """What came of the rest of a home: files removed by sort, and where it still stands, each with what to do."""

    gone: Counter[str] = field(default_factory=Counter)
    left: list[str] = field(default_factory=list)
    files: int = 0


def before_files(settings: Settings) -> Iterator[tuple[str, Path]]:
    """What was published before current and what was made of it, each with its sort."""
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


def take_from_home(settings: Settings, lake: Lake, erasure: Erasure) -> Looked:
    """Remove what was published before, with reports, exports and evidence, then look through all files there are.

    Prefect's own record is removed where it stands in it; files that Slowwave did not write are named, and left to
    their owner.
    """
    looked = Looked()
    for sort, path in list(before_files(settings)):
        looked.gone[sort] += not path.is_symlink()
        path.unlink(missing_ok=True)
    _take_evidence(settings, lake, looked)
    _take_from_bucket(settings, looked)
    sought = repeated_now(lake, erasure)
    for path in home_files(settings, lake):
        _look(settings, lake, path, sought, looked)
    return looked


def _take_from_bucket(settings: Settings, looked: Looked) -> None:
    """In a bucket, remove what was published before, and delete all that was removed: what is erased waits no day."""
    bucket, current = bucket_of(settings), current_run(settings)
    if bucket is None:
        return
    published = bucket.files(published_path(settings, "any").parent)
    before = [path for path in published if current is None or path.stem != current.stem]
    bucket.remove(before)
    looked.gone["serving files"] += len(before)
    bucket.purge()


def _take_evidence(settings: Settings, lake: Lake, looked: Looked) -> None:
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
                    looked.gone["evidence partitions"] += 1


def _look(settings: Settings, lake: Lake, path: Path, sought: Sought, looked: Looked) -> None:
    root = lake.root if path.is_relative_to(lake.root) else settings.home
    shown = path.relative_to(root).as_posix()
    try:
        if not stands_in(path, sought, named=shown):
            looked.files += 1
            return
    except FileNotFoundError:
        return
    except OSError as error:
        looked.left.append(f"{path} cannot be read ({error.strerror or error}): look yourself")
        return
    if path.is_relative_to(settings.prefect_home):
        _take_prefect(settings, path, looked)
    elif path.is_relative_to(lake.root) or path.is_relative_to(settings.serving):
        looked.left.append(f"{path} still holds it: please report this")
    else:
        looked.left.append(f"{path} holds it, and slowwave did not write it: remove it yourself")


def _take_prefect(settings: Settings, path: Path, looked: Looked) -> None:
    """Prefect keeps a record of runs for itself; without it, it begins a new one."""
    who = server(settings)
    if who is not None:
        looked.left.append(f"{path} holds it, and {who} uses it: stop that, then remove the file")
        return
    for one in path.parent.glob(f"{path.name}*"):
        one.unlink(missing_ok=True)
    looked.gone["records of Prefect"] += 1


def outside(settings: Settings, lake: Lake, pushed: Sequence[str]) -> list[str]:
    """What lies outside of the home and is not looked through, a line each; `pushed`: stores that have it from here."""
    said = ["backups, and copies of the home or the lake", "exports and reports that were written elsewhere"]
    said += [f"{one}, which what was known of its memories was pushed to: take them out there" for one in pushed]
    said += ["the logs of the producers themselves, and stores that were imported from"]
    try:
        said += [f"{one.place}, which is connected: every nightly reads it" for one in connections(settings)]
    except UserError:
        said.append(f"the sources in {settings.connections_file}")
    notes = lake.root / "kept_runs"
    homes = len(storage_of(notes).files(notes)) - 1
    if homes > 0:
        said.append(f"what {format_count(homes, 'other home')} over this lake published: run the same command there")
    if bucket_of(settings) is not None:
        said.append("copies in other homes that have read this lake, and old versions where the bucket keeps them")
    if not settings.prefect_home.is_relative_to(settings.home):
        said.append(f"Prefect's own record in {settings.prefect_home}")
    return said
