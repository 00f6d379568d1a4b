"""A publish as Parquet files in a folder or bucket: `manifest.json` names those of one run, and is replaced last.

The files of a run lie in `runs/RUN_ID/` and are never written again. Those of the run before stay, for who has read the
manifest before; older ones go.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import duckdb

from slowwave.flows.ask.connection import DuckDBConfig, error_lines, locked_connection
from slowwave.flows.ask.export import write_table
from slowwave.flows.kernel.doors import outside
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.storage.client import BucketClient
from slowwave.flows.kernel.store import write_durably
from slowwave.flows.kernel.times import is_run_id, utc_iso
from slowwave.flows.publish_to.target import Files
from slowwave.transforms.graph import SERVING

MANIFEST = "manifest.json"
_MADE_BY = "slowwave publish-to"
_RUNS = "runs"
_LIMITS: DuckDBConfig = {"memory_limit": "512MB"}


class _Place(Protocol):
    """Where files go by their key, such as runs/RUN_ID/TABLE.parquet."""

    def read(self, key: str) -> bytes | None:
        """What is there; None where nothing is."""
        ...

    def put(self, file: Path, key: str) -> None:
        """Put a file there, whole or not at all."""
        ...

    def run_ids(self) -> set[str]:
        """The runs that have files there."""
        ...

    def remove(self, run_id: str) -> None:
        """Remove the files of a run."""
        ...


def publish_to_files(path: Path, to: Files, *, unless_there: bool = False) -> dict[str, int]:
    """Write the tables of a serving file, then the manifest; rows by table.

    `unless_there`: where the manifest is of this run already, nothing is done, and it is no table.

    Raises UserError where the place holds a manifest of somebody else's, or cannot be written; OSError as the system
    does. The manifest there is then as it was.
    """
    place: _Place = _Bucket(to.url) if "://" in to.url else _Folder(Path(to.url))
    before = _manifest(place, to)
    run_id = path.stem
    if unless_there and before.get("run_id") == run_id:
        return {}
    with tempfile.TemporaryDirectory(prefix="slowwave-publish-") as aside:
        tables = _write_tables(path, place, run_id, Path(aside))
        manifest = {"made_by": _MADE_BY, "format": 1, "run_id": run_id, "as_of": _as_of(path), "tables": tables}
        file = Path(aside) / MANIFEST
        file.write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
        place.put(file, MANIFEST)
    for old in place.run_ids() - {run_id, before.get("run_id")}:
        place.remove(old)
    return {table["name"]: table["rows"] for table in tables}


def _manifest(place: _Place, to: Files) -> dict[str, Any]:
    content = place.read(MANIFEST)
    if content is None:
        return {}
    try:
        found = json.loads(content)
        if found["made_by"] == _MADE_BY:
            return found
    except (ValueError, TypeError, KeyError, RecursionError):
        pass
    message = f"{to.url} has a {MANIFEST} that slowwave did not make: nothing was changed; name another place"
    raise UserError(message)


def _write_tables(path: Path, place: _Place, run_id: str, aside: Path) -> list[dict[str, Any]]:
    tables = []
    try:
        with locked_connection(path, limits=_LIMITS) as connection:
            held = {name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
            for table in (table for table in SERVING if table.name in held):
                file, key = aside / f"{table.name}.parquet", f"{_RUNS}/{run_id}/{table.name}.parquet"
                rows = write_table(connection, table, file, "parquet")
                with file.open("rb") as handle:
                    digest = hashlib.file_digest(handle, "sha256").hexdigest()
                size = file.stat().st_size
                place.put(file, key)
                file.unlink()
                tables.append({"name": table.name, "file": key, "rows": rows, "bytes": size, "sha256": digest})
    except duckdb.Error as error:
        message = f"the tables of run {run_id} cannot be read: {error_lines(error)}; `slowwave doctor` says more"
        raise UserError(message) from error
    return tables


def _as_of(path: Path) -> str:
    with locked_connection(path) as connection:
        found = connection.execute("SELECT as_of FROM runs WHERE run_id = $run_id", {"run_id": path.stem}).fetchall()
    return utc_iso(found[0][0]) if found else ""


@dataclass(frozen=True)
class _Folder:
    folder: Path

    def read(self, key: str) -> bytes | None:
        try:
            return (self.folder / key).read_bytes()
        except FileNotFoundError:
            return None
        except NotADirectoryError as error:
            message = f"{self.folder} is no folder, or lies below a file: nothing was changed; name another place"
            raise UserError(message) from error

    def put(self, file: Path, key: str) -> None:
        to = self.folder / key
        copied: Callable[[Path], object] = lambda aside: shutil.copyfile(file, aside)  # noqa: E731 - of this file
        with outside():
            to.parent.mkdir(parents=True, exist_ok=True)
            write_durably(to, copied)

    def run_ids(self) -> set[str]:
        return {path.name for path in (self.folder / _RUNS).iterdir() if is_run_id(path.name) and not path.is_symlink()}

    def remove(self, run_id: str) -> None:
        shutil.rmtree(self.folder / _RUNS / run_id)


class _Bucket:
    def __init__(self, url: str) -> None:
        self._client = BucketClient(url)

    def read(self, key: str) -> bytes | None:
        try:
            return self._client.read(key)[0]
        except FileNotFoundError:
            return None

    def put(self, file: Path, key: str) -> None:
        self._client.upload(file, key)

    def run_ids(self) -> set[str]:
        found = {key.split("/")[1] for key, _ in self._client.entries(_RUNS) if key.count("/") > 1}
        return {run_id for run_id in found if is_run_id(run_id)}

    def remove(self, run_id: str) -> None:
        self._client.delete([key for key, _ in self._client.entries(f"{_RUNS}/{run_id}")], lambda: None)
