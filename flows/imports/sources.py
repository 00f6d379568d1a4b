"""What can be imported, by name: where each source finds its units, and the adapter that reads them."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import orjson

from slowwave.flows.imports.claude_files import ClaudeFiles
from slowwave.flows.imports.files import IDLE_SECONDS, FileSource
from slowwave.flows.imports.record_readers import begins_array, json_elements, json_objects, table_rows
from slowwave.flows.imports.sqlite_files import SqliteSource, cursor_records
from slowwave.flows.imports.trace_parts import KeptParts, TracePart, join_units
from slowwave.flows.imports.units import FoundUnits, NotImported, ReadRecord, Unit, file_status
from slowwave.flows.kernel.settings import LONGEST_ROW
from slowwave.transforms.imports.adapter import Adapter, LeftOut, Located, Record, Refused
from slowwave.transforms.imports.chats.coding_agents import ATIF, COPILOT_CLI, GEMINI_CLI, OPENCODE
from slowwave.transforms.imports.chats.cursor import CURSOR
from slowwave.transforms.imports.chats.model_calls import LANGFUSE_UI, LANGSMITH, LITELLM, LLM_REQUESTS
from slowwave.transforms.imports.chats.web_exports import CHATGPT, CLAUDE_AI
from slowwave.transforms.imports.claude_code import AGENT_METADATA, ClaudeCode
from slowwave.transforms.imports.codex import CodexAdapter
from slowwave.transforms.imports.langfuse import Langfuse, table_of, text_cell, written_seconds
from slowwave.transforms.imports.otlp.adapter import Otlp
from slowwave.transforms.imports.otlp.trace_documents import TraceDocument, misfit, parts
from slowwave.transforms.imports.pi import Pi
from slowwave.transforms.imports.stores.alma import ALMA_STORE
from slowwave.transforms.imports.stores.change_log import Store
from slowwave.transforms.imports.stores.sqlite_stores import ASTROCYTE_STORE, ATOCORE_STORE, LANGGRAPH_STORE, MEM0_STORE

# ------------------------------------------------------------------------------------------
# What Claude Code writes beside the transcript of a subagent: `agent-ID.meta.json`, as a record before its own.

_MOST_BYTES = 2**20


def agent_metadata(path: Path) -> Record | None:
    """The record for a transcript; None where nothing stands beside it, or nothing that can be read."""
    beside = path.with_name(f"{path.name.partition('.jsonl')[0]}.meta.json")
    if not path.name.startswith("agent-") or beside == path:
        return None
    try:
        file_status(beside)
        with beside.open("rb") as handle:
            stated = orjson.loads(handle.read(_MOST_BYTES))
    except (OSError, orjson.JSONDecodeError):
        return None
    return {**stated, "type": AGENT_METADATA} if isinstance(stated, dict) else None


# ------------------------------------------------------------------------------------------
# The sources of whole conversations: where each usually lies, and which files are its.

CHATS = (
    FileSource(
        CURSOR,
        "conversations of Cursor",
        suffixes=(".vscdb", ".jsonl"),
        roots=(
            "~/.config/Cursor/User/globalStorage/state.vscdb",
            "~/Library/Application Support/Cursor/User/globalStorage/state.vscdb",
        ),
        reader=cursor_records,
    ),
    FileSource(CHATGPT, "exports of ChatGPT", suffixes=(".json",), reader=json_elements),
    FileSource(CLAUDE_AI, "exports of claude.ai", suffixes=(".json",), reader=json_elements),
    FileSource(
        GEMINI_CLI,
        "sessions of Gemini CLI",
        suffixes=(".json", ".jsonl"),
        roots=("~/.gemini/tmp",),
        reader=json_elements,
        matches=lambda name: name.startswith("session-"),
    ),
    FileSource(OPENCODE, "exports of OpenCode", suffixes=(".json",), reader=json_elements),
    FileSource(COPILOT_CLI, "sessions of GitHub Copilot CLI", roots=("~/.copilot/session-state",)),
    FileSource(LLM_REQUESTS, "logs of requests to models", suffixes=(".json", ".jsonl"), reader=json_elements),
    FileSource(LANGSMITH, "runs of LangSmith", suffixes=(".json", ".jsonl"), reader=json_elements),
    FileSource(LITELLM, "calls that LiteLLM logged", suffixes=(".json", ".jsonl"), reader=json_elements),
    FileSource(LANGFUSE_UI, "downloads from Langfuse's pages", suffixes=(".json", ".jsonl"), reader=json_elements),
    FileSource(ATIF, "trajectories in ATIF", suffixes=(".json", ".jsonl"), reader=json_elements),
)


# ------------------------------------------------------------------------------------------
# OTLP JSON in files: what the collector's file exporter writes, documents of their own, and the SDK's spans.


def _otlp_records(path: Path, longest_row: int, *, is_idle: bool = True) -> Iterator[ReadRecord]:
    """The documents of a file, which may also be the objects of one JSON array."""
    reader = table_rows if begins_array(path) else json_objects
    yield from reader(path, longest_row, is_idle=is_idle)


def _otlp_parts(located: Located) -> Iterator[TracePart | Refused | LeftOut]:
    for one in parts(located):
        if isinstance(one, TraceDocument):
            yield TracePart(one.trace_id, one.document, one.seconds, one.response_id, follows=one.is_judging)
        else:
            yield one


OTLP = FileSource(
    Otlp(),
    "traces and logs of OpenTelemetry",
    suffixes=(".json", ".jsonl", ".ndjson"),
    reader=_otlp_records,
    deal=_otlp_parts,
    misfit=misfit,
)


# ------------------------------------------------------------------------------------------
# Exports of Langfuse in folders: only runs that are whole are read, as their manifests say.
# `PROJECT/TABLE/TIME.EXTENSION` are the files of a run, `PROJECT/manifests/TIME.json` is written when it has ended.

_MANIFESTS = "manifests"
_LANGFUSE_SUFFIXES = (".json", ".jsonl", ".csv", ".parquet")


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

    def list_files(self, path: Path) -> list[Path]:
        """The files under a path that may be its, by their names alone. Raises OSError."""
        return self.files.list_files(path)

    def find_units(self, path: Path, others: Iterable[Adapter] = (), longest_row: int = LONGEST_ROW) -> FoundUnits:
        """The files of whole runs under a path; those of a run that has not ended are named. Raises OSError."""
        everything = self.files.find_units(path, others, longest_row)
        found = FoundUnits(others=[one for one in everything.others if not _is_manifest(Path(one.name))])
        runs: dict[Path, _LangfuseRuns] = {}
        for unit in everything.units:
            project = Path(unit.name).parent.parent
            if project not in runs:
                runs[project] = _LangfuseRuns(project)
            why = runs[project].why_not_whole(Path(unit.name), unit)
            if why:
                found.others.append(NotImported(unit.name, why, is_fault=not path.is_dir(), is_recognised=True))
            else:
                found.units.append(unit)
        return found

    def group_units(self, units: list[Unit], kept: KeptParts | None = None) -> list[Unit]:
        """The units as they are read: the rows of a trace together, `kept` ones with them."""
        return join_units(units, _langfuse_parts, kept)


class _LangfuseRuns:
    """The runs of a project that have ended, by their times, with the sizes of their files."""

    def __init__(self, project: Path) -> None:
        self._project = project
        self._sizes: dict[str, dict[str, int]] = {}
        for manifest in sorted((project / _MANIFESTS).glob("*.json")):
            if (sizes := _manifest_sizes(manifest)) is not None:
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


def _manifest_sizes(manifest: Path) -> dict[str, int] | None:
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


def _langfuse_parts(located: Located) -> Iterator[TracePart | Refused | LeftOut]:
    row = located.record
    trace_id = text_cell(row.get("id" if table_of(row) == "traces" else "trace_id"))
    yield TracePart(f"{text_cell(row.get('project_id'))}:{trace_id}", row, written_seconds(row))


LANGFUSE = LangfuseSource(FileSource(Langfuse(), "exports of Langfuse", suffixes=_LANGFUSE_SUFFIXES, reader=table_rows))


class Source(Protocol):
    """A kind of logs or stores that can be imported; `FileSource` is one."""

    @property
    def name(self) -> str:
        """What it is called on the command line."""
        ...

    @property
    def adapter(self) -> Adapter:
        """What makes rows of its records."""
        ...

    @property
    def described(self) -> str:
        """What it is, for people, in the plural."""
        ...

    @property
    def roots(self) -> tuple[str, ...]:
        """Where it usually lies; `~` and variables of the environment in it stand for what they say."""
        ...

    def list_files(self, path: Path) -> list[Path]:
        """The files under a path that may be its, by their names alone: nothing is read. Raises OSError."""
        ...

    def find_units(self, path: Path, others: Iterable[Adapter] = (), longest_row: int = LONGEST_ROW) -> FoundUnits:
        """The units under a path; `others` tell whose the files are that are none of its. Raises OSError."""
        ...

    def group_units(self, units: list[Unit], kept: KeptParts | None = None) -> list[Unit]:
        """The units found under all paths as they are read, where records of several, and `kept` ones, go together."""
        ...


SOURCES: tuple[Source, ...] = (
    FileSource(CodexAdapter(), "rollouts of Codex", roots=("~/.codex/sessions", "~/.codex/archived_sessions")),
    FileSource(ClaudeCode(), "transcripts of Claude Code", roots=("~/.claude/projects",), beside=agent_metadata),
    FileSource(Pi(), "sessions of pi and OpenClaw", roots=("~/.pi/agent/sessions", "~/.openclaw/agents")),
    *CHATS,
    OTLP,
    LANGFUSE,
    ClaudeFiles(),
    SqliteSource(ALMA_STORE, "stores of ALMA", roots=("./.alma/alma.db",)),
    SqliteSource(MEM0_STORE, "histories of mem0", roots=("$MEM0_DIR/history.db", "~/.mem0/history.db")),
    SqliteSource(
        ASTROCYTE_STORE,
        "stores of Astrocyte",
        roots=("$ASTROCYTE_SQLITE_PATH", "~/.local/share/astrocyte/astrocyte.db"),
    ),
    SqliteSource(LANGGRAPH_STORE, "stores of LangGraph"),
    SqliteSource(ATOCORE_STORE, "stores of AtoCore"),
)


def is_store(source: Source) -> bool:
    """Whether what was seen of it is kept, and it is read beside that: what is gone from it is then known."""
    return isinstance(source.adapter, Store)


def source_named(name: str) -> Source | None:
    """The source of this name."""
    return next((source for source in SOURCES if source.name == name), None)


def found_under(
    source: Source, paths: Iterable[Path], longest_row: int = LONGEST_ROW, kept: KeptParts | None = None
) -> FoundUnits:
    """All units of a source under paths, each once; with `kept`, what belongs together is read with what came before.

    Raises OSError where a path cannot be listed.
    """
    others = [each.adapter for each in SOURCES if each.name != source.name]
    found, names = FoundUnits(), set[str]()
    for path in paths:
        here = source.find_units(path, others, longest_row)
        found.units.extend(unit for unit in here.units if unit.name not in names)
        names.update(unit.name for unit in here.units)
        found.others.extend(here.others)
    return FoundUnits(source.group_units(found.units, kept), found.others)
