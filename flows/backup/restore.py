"""`slowwave restore`: a backup becomes a home again, each file checked; what was erased since stays gone.

Until all files are there, `FORMAT` of the lake says that it is being restored, and every command refuses it. Killed,
the same command goes on.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from slowwave.flows.backup.backup import AT_ONCE, file_key, read_files, read_marked_headers
from slowwave.flows.backup.place import Place, Seal, open_place, read_identities
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.kernel.progress import print_lines, this_command
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.storage.folder import Folder
from slowwave.flows.kernel.storage.storage import storage_of
from slowwave.flows.kernel.store import write_durably
from slowwave.flows.kernel.terminal import format_count, quote_shortened, size_shown, terminal_safe
from slowwave.flows.lake.current import link_current
from slowwave.flows.lake.digests import NAME as DIGESTS
from slowwave.flows.lake.files import LAKE_FORMAT, RESTORING
from slowwave.flows.lake.lake import Lake
from slowwave.flows.lake.lifetime.tombstones import ERASE, Tombstones, read_hash_key, read_tombstones, write_for_owner
from slowwave.flows.lake.lifetime.tombstones import FOLDER as ERASED
from slowwave.flows.lifetime.erasure import plan_erasure_again
from slowwave.flows.lifetime.erasure_steps import erase_from_lake
from slowwave.transforms.landing.decisions_table import Decisions
from slowwave.transforms.landing.ledger_tables import Runs

_DECISIONS, _RUNS, _KEY = f"lake/{Decisions.name}/", f"lake/{Runs.name}/", f"lake/{ERASED}/key"
# What a night makes again, and what may name what was erased.
_DERIVED = ("lake/evidence/", f"lake/{DIGESTS}", "serving/")
_OWN = frozenset({".lock", "lake"})
_PLACES = frozenset({"inbox", "lake", "mappings", "serving"})


def run_restore(
    settings: Settings, target: str, *, backup: str, to: str | None, identity: str | None, output: str
) -> None:
    """Bring a backup back into a home that is empty, and print what was done.

    `backup`: its id or the beginning of it, or `latest`. Raises WrongUsageError or UserError where that makes no sense,
    the home has files, or a file of the backup is damaged; OSError as the disk does: the same command then goes on.
    """
    into = Settings(Path(to).absolute()) if to is not None else settings
    place = open_place(target, into)
    header = _find_backup(read_marked_headers(place), backup, place)
    seal = read_identities(identity)
    files = read_files(place, header, seal)
    _check_names(place, files)
    began = time.monotonic()
    _check_empty(into, header["id"])
    with writer_lock(into, "restore"):
        _check_empty(into, header["id"])  # nobody was quicker
        erased = _Restore(into, place, header, files, seal).restore(settings)
    made = {"id": header["id"], "home": str(into.home), "files": len(files), "bytes": header["bytes"], "erased": erased}
    if output == "json":
        sys.stdout.write(f"{json.dumps(made)}\n")
        return
    holds = f"{format_count(len(files), 'file')} with {size_shown(header['bytes'])}"
    lines = [("holds", f"{holds}, each checked, in {time.monotonic() - began:.1f} s"), ("made", header["made_at"])]
    if erased is not None:
        rows = format_count(sum(erased.values()), "row")
        lines.append(
            ("erased", f"{rows} of what was erased since did not come back; a nightly builds and publishes anew")
        )
    home = "" if to is None else f"SLOWWAVE_HOME={shlex.quote(str(into.home))} "
    print_lines(f"{into.home} is as it was in backup {header['id']}", lines, [f"{home}{this_command()} nightly"])


def _find_backup(headers: list[dict[str, Any]], backup: str, place: Place) -> dict[str, Any]:
    found = headers[-1:] if backup == "latest" else [one for one in headers if one["id"].startswith(backup)]
    if len(found) != 1:
        has = "no backup" if not found else "several backups"
        message = f"{place.url} has {has} {quote_shortened(backup)}: `slowwave backup TARGET --list` shows their ids"
        raise UserError(message)
    return found[0]


def _check_names(place: Place, files: Mapping[str, list[Any]]) -> None:
    """Raises UserError where a name leads out of a home: somebody else has written it."""
    if "lake/FORMAT" not in files:
        message = f"{place.url} has no lake in that backup: nothing was changed; restore another one"
        raise UserError(message)
    for name, (sha256, *_) in files.items():
        parts = name.split("/")
        is_ours = parts[0] in _PLACES if len(parts) > 1 else name.endswith((".toml", ".json"))
        is_plain = not any(part in {"", ".", ".."} or "\x00" in part for part in parts)
        if not (is_ours and is_plain and len(sha256) == 64 and sha256.isalnum()):  # noqa: PLR2004 - of SHA-256
            message = f"{place.url} names a file that is of no home ({quote_shortened(name)}): nothing was changed"
            raise UserError(message)


def _check_empty(settings: Settings, backup_id: str) -> None:
    """Raises UserError unless the home is empty, or this very backup was being restored into it."""
    lake = settings.lake_folder
    storage, marker = storage_of(lake), lake / "FORMAT"
    try:
        said = storage.read(marker).decode(errors="replace").strip()
    except (FileNotFoundError, NotADirectoryError):
        said = ""
    if said == f"{RESTORING}{backup_id}":
        return
    if said.startswith(RESTORING):
        before = said.removeprefix(RESTORING)
        message = f"{settings.home} is being restored from backup {before}: go on with --backup {before}, or empty it"
        raise UserError(message)
    home = settings.home
    if home.exists() and not home.is_dir():
        message = f"{home} is no folder: name another one with --to"
        raise UserError(message)
    there = [path.name for path in home.iterdir() if path.name not in _OWN] if home.is_dir() else []
    in_lake = bool(storage.folders(lake)) and any(name != ".lock" for name in storage.folders(lake))
    if there or in_lake or storage.files(lake):
        what = there[0] if there else f"a lake in {settings.lake}"
        message = (
            f"{home} is not empty (it has {quote_shortened(what)}): nothing was changed; name an empty folder with --to"
        )
        raise UserError(message)


class _Restore:
    """One backup, and the home that it becomes."""

    def __init__(
        self, settings: Settings, place: Place, header: dict[str, Any], files: Mapping[str, list[Any]], seal: Seal
    ) -> None:
        self._settings = settings
        self._lake = Lake(settings.lake_folder)
        self._place = place
        self._header = header
        self._files = files
        self._seal = seal

    def restore(self, home: Settings) -> dict[str, int] | None:
        """Bring back all files; return the rows that were erased since, by table, None where nothing was.

        `home`: the home of the environment, which may know of later erasures than the place does.
        """
        marker = self._lake.root / "FORMAT"
        self._write_text(marker, f"{RESTORING}{self._header['id']}")
        with self._hold_folder() as aside:
            later = list(self._later_erasures(home, aside))
            goes_on = [name for name in self._files if not later or not name.startswith(_DERIVED)]
            with ThreadPoolExecutor(max_workers=AT_ONCE if isinstance(storage_of(marker), Folder) else 1) as pool:
                list(pool.map(self._bring_file, (name for name in goes_on if name != "lake/FORMAT")))
            number = self._read_format(aside)
            erased = self._erase(later) if later else None
        run_id = self._header["run_id"]
        if run_id and f"serving/runs/{run_id}.duckdb" in goes_on:
            link_current(self._settings, run_id)
        self._write_text(marker, str(LAKE_FORMAT) if later else number)
        return erased

    @contextmanager
    def _hold_folder(self) -> Iterator[Path]:
        """Hold a folder of the home for a while; what a restore has left there that was killed goes first."""
        folder = self._settings.home / ".restore"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _later_erasures(self, home: Settings, aside: Path) -> Iterator[tuple[Path, Tombstones, pl.DataFrame]]:
        """Yield each lake that knows of erasures which this backup does not: its folder, tombstones, decisions."""
        own = self._read_small(self._header, self._files, aside / "own")
        known = _read_erasures(Lake(own))["row_hash"].implode()
        runs = set(Lake(own).ledger(Runs)["run_id"])
        for root in (*self._newest_lake(aside / "newest"), home.lake_folder):
            if root == self._lake.root or not Lake(root).is_there():
                continue
            try:
                if runs.isdisjoint(Lake(root).ledger(Runs)["run_id"]):
                    continue  # of another home
                decided, tombstones = _read_erasures(Lake(root)), read_tombstones(root)
            except (pl.exceptions.PolarsError, duckdb.Error, OSError, ValueError):
                _warn(f"the lake {root} is damaged: what was erased in it since the last backup is not known")
                continue
            newer = decided.filter(~pl.col("row_hash").is_in(known))
            if newer.height and tombstones is not None:
                yield root, tombstones, newer

    def _newest_lake(self, aside: Path) -> Iterable[Path]:
        """Return a folder with the erasures of the newest backup in the place that has any."""
        for header in reversed(read_marked_headers(self._place)):
            if header["id"] == self._header["id"]:
                return []
            files = read_files(self._place, header, self._seal)
            if _KEY in files:
                return [self._read_small(header, files, aside)]
        return []

    def _read_small(self, header: dict[str, Any], files: Mapping[str, list[Any]], aside: Path) -> Path:
        """Fetch what tells of erasures, and of runs, in a backup into a folder."""
        for name in files:
            if name == _KEY or name.startswith((_DECISIONS, _RUNS)):
                path = aside / name.removeprefix("lake/")
                path.parent.mkdir(parents=True, exist_ok=True)
                self._fetch(header, name, files[name], path)
        return aside

    def _read_format(self, aside: Path) -> str:
        path = aside / "FORMAT"
        self._fetch(self._header, "lake/FORMAT", self._files["lake/FORMAT"], path)
        return path.read_text(encoding="utf-8").strip()

    def _path_of(self, name: str) -> Path:
        first, _, rest = name.partition("/")
        return self._lake.root / rest if first == "lake" and rest else self._settings.home / name

    def _bring_file(self, name: str) -> None:
        of, path = self._files[name], self._path_of(name)
        if self._is_there(path, of):
            return
        storage = storage_of(path)

        def write(aside: Path) -> None:
            self._fetch(self._header, name, of, aside)
            aside.chmod(aside.stat().st_mode & of[3] & 0o777)
            os.utime(aside, ns=(of[2], of[2]))

        storage.write(path, write)

    def _is_there(self, path: Path, of: list[Any]) -> bool:
        """Return whether a restore that was killed has brought a file back already."""
        storage = storage_of(path)
        if not storage.exists(path) or storage.size(path) != of[1]:
            return False
        with storage.on_disk([path])[0].open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == of[0]

    def _fetch(self, header: dict[str, Any], name: str, of: list[Any], to: Path) -> None:
        """Fetch a file of a backup and check it. Raises UserError where it is damaged or gone."""
        key = file_key(of[0], is_sealed=header["is_sealed"])
        try:
            if header["is_sealed"]:
                self._fetch_sealed(key, to)
            else:
                self._place.fetch(key, to)
        except FileNotFoundError as error:
            message = f"{self._place.url}/{key} is gone, which {quote_shortened(name)} is in: restore another backup"
            raise UserError(message) from error
        with to.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != of[0]:
                message = (
                    f"{self._place.url}/{key} is damaged, which {quote_shortened(name)} is in: restore another backup, "
                    "or back the home up again and then go on"
                )
                raise UserError(message)

    def _fetch_sealed(self, key: str, to: Path) -> None:
        sealed = to.with_name(f"{to.name}.age")
        try:
            self._place.fetch(key, sealed)
            with sealed.open("rb") as source, to.open("wb") as opened:
                self._seal.open(source, opened)
        finally:
            sealed.unlink(missing_ok=True)

    def _erase(self, later: list[tuple[Path, Tombstones, pl.DataFrame]]) -> dict[str, int]:
        """Take out what was erased since, and note that it was: delivered again it is refused."""
        gone: dict[str, int] = {}
        for root, tombstones, decided in later:
            for table, count in erase_from_lake(self._lake, plan_erasure_again(self._lake, tombstones)).items():
                gone[table] = gone.get(table, 0) + count
            key = read_hash_key(root)
            if key is None or read_hash_key(self._lake.root) not in (None, key):
                _warn("what was erased since is gone, but would land again if it was delivered again")
                continue
            write_for_owner(self._lake.root / ERASED / "key", key.hex().encode())
            for day, rows in decided.group_by(pl.col("decided_at").dt.date().alias("day")):
                fresh = rows.filter(~pl.col("row_hash").is_in(self._lake.row_hashes(Decisions, [day[0]]).implode()))
                if fresh.height:
                    self._lake.write_rows(Decisions, day[0], fresh)
        return gone

    def _write_text(self, path: Path, text: str) -> None:
        write_durably(path, lambda aside: aside.write_text(f"{text}\n", encoding="utf-8"))


def _warn(text: str) -> None:
    sys.stderr.write(f"slowwave: {terminal_safe(text)}\n")


def _read_erasures(lake: Lake) -> pl.DataFrame:
    files = [file for of_day in lake.files(Decisions.name).values() for file in of_day]
    return lake.scan_rows(Decisions, files).filter(pl.col("command") == ERASE).collect()
