"""Exports of Langfuse in folders: only runs that are whole are read, as their manifests say.

`PROJECT/TABLE/TIME.EXTENSION` are the files of a run, `PROJECT/manifests/TIME.json` is written when it has ended.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from slowwave.flows.imports.files import IDLE_SECONDS, FileSource
from slowwave.flows.imports.kept_parts import KeptParts
from slowwave.flows.imports.table_records import table_rows
from slowwave.flows.imports.together import Dealt, together
from slowwave.flows.imports.units import Found, NotImported, Unit
from slowwave.flows.kernel.settings import LONGEST_ROW
from slowwave.transforms.imports.adapter import Adapter, LeftOut, Located, Refused
from slowwave.transforms.imports.langfuse import Langfuse, table_of, text_cell, written_seconds

_MANIFESTS = "manifests"
_SUFFIXES = (".json", ".jsonl", ".csv", ".parquet")


@dataclass(frozen=True)
class LangfuseSource:
    """Exports of Langfuse; rows of a trace are read together, whichever windows they were exported in."""

    files: FileSource

    @property
    def name(self) -> str:
        """What it is called on the command line."""
        return self.files.name

    @property
    def adapter(self) -> Adapter:
        """What makes rows of its records."""
        return self.files.adapter

    @property
    def described(self) -> str:
        """What it is, for people."""
        return self.files.described

    @property
    def roots(self) -> tuple[str, ...]:
        """Nowhere: exports lie where somebody put them."""
        return ()

    def listed(self, path: Path) -> list[Path]:
        """The files under a path that may be its, by their names alone. Raises OSError."""
        return self.files.listed(path)

    def found(self, path: Path, others: Iterable[Adapter] = (), longest_row: int = LONGEST_ROW) -> Found:
        """The files of whole runs under a path; those of a run that has not ended are named. Raises OSError."""
        everything = self.files.found(path, others, longest_row)
        found = Found(others=[one for one in everything.others if not _is_manifest(Path(one.name))])
        runs: dict[Path, _Runs] = {}
        for unit in everything.units:
            project = Path(unit.name).parent.parent
            if project not in runs:
                runs[project] = _Runs(project)
            why = runs[project].why_not_whole(Path(unit.name), unit)
            if why:
                found.others.append(NotImported(unit.name, why, is_fault=not path.is_dir(), is_recognised=True))
            else:
                found.units.append(unit)
        return found

    def joined(self, units: list[Unit], kept: KeptParts | None = None) -> list[Unit]:
        """The units as they are read: the rows of a trace together, `kept` ones with them."""
        return together(units, _by_trace, kept)


class _Runs:
    """The runs of a project that have ended, by their times, with the sizes of their files."""

    def __init__(self, project: Path) -> None:
        self._project = project
        self._sizes: dict[str, dict[str, int]] = {}
        for manifest in sorted((project / _MANIFESTS).glob("*.json")):
            if (sizes := _sizes(manifest)) is not None:
                self._sizes[manifest.stem] = sizes

    def why_not_whole(self, path: Path, unit: Unit) -> str:
        """Why a file is not read yet; '' where its run is whole.

        Releases that wrote no manifests are known by files older than all of them; where there is none at all, a file
        that nothing was written to for an hour is taken for whole.
        """
        moment = path.name.partition(".")[0]
        if not self._sizes:
            is_idle = time.time() - unit.modified_at >= IDLE_SECONDS
            return "" if is_idle else "has no manifest, and was written to within the last hour: its run may go on"
        if moment < min(self._sizes):
            return ""
        sizes = self._sizes.get(moment)
        if sizes is None:
            return f"belongs to a run that has not ended: there is no {_MANIFESTS}/{moment}.json yet"
        for name, size in sizes.items():
            there = self._project / name
            if not there.is_file():
                return f"belongs to a run of which {name} is not here yet"
            if size >= 0 and there.stat().st_size != size:
                return f"belongs to a run of which {name} is not here whole: it must have {size:,} bytes"
        return "" if f"{path.parent.name}/{path.name}" in sizes else f"is no file that {_MANIFESTS}/{moment}.json names"


def _sizes(manifest: Path) -> dict[str, int] | None:
    """`TABLE/FILE` of a run with their bytes (-1: not said); None where the manifest cannot be read."""
    try:
        files = json.loads(manifest.read_text(encoding="utf-8"))["files"]
        return {
            "/".join(str(file["key"]).split("/")[-2:]): size if isinstance(size := file.get("sizeBytes"), int) else -1
            for file in files
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _is_manifest(path: Path) -> bool:
    return path.parent.name == _MANIFESTS


def _by_trace(located: Located) -> Iterator[Dealt | Refused | LeftOut]:
    row = located.record
    trace_id = text_cell(row.get("id" if table_of(row) == "traces" else "trace_id"))
    yield Dealt(f"{text_cell(row.get('project_id'))}:{trace_id}", row, written_seconds(row))


LANGFUSE = LangfuseSource(FileSource(Langfuse(), "exports of Langfuse", suffixes=_SUFFIXES, reader=table_rows))
