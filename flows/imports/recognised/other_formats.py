"""Formats that are recognised and not imported, and what to do in place of an import."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from slowwave.transforms.imports.adapter import Record

_MOST_TABLES = 6
_ROW = ("prompt", "memory_id", "outcome_id", "success")
_HOOK = frozenset({"event", "hook_event_name", "hook_event"})
_CAPTURE = "send its OpenTelemetry traces to `slowwave capture`"
_ROWS = "write a row for each question and answer (prompt, response, created_at) and `slowwave land` them"
_SQLITE = "export its conversations as JSON lines, then `slowwave mapping suggest FILE` and `slowwave land FILE`"


@dataclass(frozen=True)
class OtherFormat:
    """A format: what a file of it is, and what to do with it."""

    called: str
    instead: str

    def said(self) -> str:
        """Return the rest of a sentence that begins with the name of a file."""
        return f"is {self.called}, which Slowwave does not import: {self.instead}"


def other_records(first: Sequence[Record]) -> OtherFormat | None:
    """Return the format of a file with these first records; None where there are none."""
    for is_one, found in _OF_RECORDS:
        if any(is_one(record) for record in first):
            return found
    return None


def other_tables(schema: Mapping[str, Sequence[str]]) -> OtherFormat:
    """Return what an SQLite database with these tables and columns is."""
    for tables, found in _OF_TABLES:
        if tables <= schema.keys():
            return found
    shown = [*schema][:_MOST_TABLES] + (["…"] if len(schema) > _MOST_TABLES else [])
    return OtherFormat(f"an SQLite database of a program that is not known ({', '.join(shown) or 'no table'})", _SQLITE)


def other_text(head: bytes) -> OtherFormat | None:
    """Return the format of a file that holds no records, by its first bytes; None where it is not known."""
    return next((found for begins, found in _OF_TEXTS if begins in head), None)


def _is_chat(record: Record) -> bool:
    messages = record.get("messages")
    return isinstance(messages, list) and any(isinstance(one, dict) and "role" in one for one in messages)


def _is_request(record: Record) -> bool:
    parts = (record.get(name) for name in ("body", "request", "request_body", "kwargs"))
    inner = [part for part in parts if isinstance(part, dict)]
    return any(_is_chat(part) and "model" in part for part in (record, *inner)) or "custom_id" in record


_OF_RECORDS: tuple[tuple[Callable[[Record], bool], OtherFormat], ...] = (
    (
        lambda record: "session_id" in record and not _HOOK.isdisjoint(record),
        OtherFormat(
            "a log that a hook of Claude Code wrote",
            "the transcripts of its sessions have what was said: `slowwave import claude-code ~/.claude/projects`",
        ),
    ),
    (
        lambda record: {"event", "properties", "time"} <= record.keys(),
        OtherFormat("a log of aider's analytics", "it holds neither prompts nor answers"),
    ),
    (_is_request, OtherFormat("a log of requests to a model without its answers", f"{_CAPTURE}, or {_ROWS}")),
    (_is_chat, OtherFormat("a list of chats (OpenAI, Anthropic) without times", _ROWS)),
    (
        lambda record: any(record.get(name) not in (None, "") for name in _ROW),
        OtherFormat("a file of rows as `slowwave land` takes them", "`slowwave land FILE`"),
    ),
    (
        bool,
        OtherFormat(
            "a file of records whose program is not known", "`slowwave mapping suggest FILE`, then `slowwave land FILE`"
        ),
    ),
)
_OF_TABLES: tuple[tuple[frozenset[str], OtherFormat], ...] = (
    (frozenset({"agent_sessions", "agent_messages"}), OtherFormat("a session store of OpenAI's Agents SDK", _SQLITE)),
    (frozenset({"collections", "embeddings"}), OtherFormat("a vector store of Chroma's", _SQLITE)),
    (
        frozenset({"cursorDiskKV"}),
        OtherFormat(
            "a database of Cursor's in which no conversation can be read",
            "restore it from a backup, or recover it with `sqlite3 FILE .recover`",
        ),
    ),
    (frozenset({"conversations", "responses"}), OtherFormat("a log of `llm`", _SQLITE)),
)
_OF_TEXTS: tuple[tuple[bytes, OtherFormat], ...] = (
    (b"# aider chat started at", OtherFormat("a chat history of aider's, whose turns have no times", _ROWS)),
)
