"""What can be imported, by name: where each source finds its units, and the adapter that reads them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from slowwave.flows.imports.agent_metadata import agent_metadata
from slowwave.flows.imports.chats.chat_sources import CHATS
from slowwave.flows.imports.files import FileSource
from slowwave.flows.imports.kept_parts import KeptParts
from slowwave.flows.imports.langfuse import LANGFUSE
from slowwave.flows.imports.otlp import OTLP
from slowwave.flows.imports.stores.claude_files import ClaudeFiles
from slowwave.flows.imports.stores.sqlite_source import SqliteSource
from slowwave.flows.imports.units import Found, Unit
from slowwave.flows.kernel.settings import LONGEST_ROW
from slowwave.transforms.imports.adapter import Adapter
from slowwave.transforms.imports.claude_code import ClaudeCode
from slowwave.transforms.imports.codex import CodexAdapter
from slowwave.transforms.imports.pi import Pi
from slowwave.transforms.imports.stores.alma import ALMA_STORE
from slowwave.transforms.imports.stores.change_log import Store
from slowwave.transforms.imports.stores.sqlite_stores import ASTROCYTE_STORE, ATOCORE_STORE, LANGGRAPH_STORE, MEM0_STORE


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

    def listed(self, path: Path) -> list[Path]:
        """The files under a path that may be its, by their names alone: nothing is read. Raises OSError."""
        ...

    def found(self, path: Path, others: Iterable[Adapter] = (), longest_row: int = LONGEST_ROW) -> Found:
        """The units under a path; `others` tell whose the files are that are none of its. Raises OSError."""
        ...

    def joined(self, units: list[Unit], kept: KeptParts | None = None) -> list[Unit]:
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
) -> Found:
    """All units of a source under paths, each once; with `kept`, what belongs together is read with what came before.

    Raises OSError where a path cannot be listed.
    """
    others = [each.adapter for each in SOURCES if each.name != source.name]
    found, names = Found(), set[str]()
    for path in paths:
        here = source.found(path, others, longest_row)
        found.units.extend(unit for unit in here.units if unit.name not in names)
        names.update(unit.name for unit in here.units)
        found.others.extend(here.others)
    return Found(source.joined(found.units, kept), found.others)
