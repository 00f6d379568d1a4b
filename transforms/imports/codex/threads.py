"""Whose a rollout is: the thread, its session, agent and client, and where it was forked from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from slowwave.transforms.imports.codex.values import folder_path, milliseconds, milliseconds_of_id
from slowwave.transforms.imports.made import Record
from slowwave.transforms.imports.record_values import object_in, object_or_empty, text_in, text_or_empty, whole_number

# Threads that Codex starts for itself: nobody asked anything in them.
_OF_ITS_OWN = frozenset({"review", "compact", "memory_consolidation", "guardian"})


@dataclass(frozen=True)
class Thread:
    """What a `session_meta` record says.

    `own_purpose`: what Codex started the thread for, '' where a person or an agent did. `began_ms`: since 1970.
    `history_ends`: the ordinal of its first own record, None where that is not said.
    """

    thread_id: str = ""
    session_id: str = ""
    agent: str = "codex"
    client: str = ""
    version: str = ""
    directory: str = ""
    branch: str = ""
    own_purpose: str = ""
    forked_from: str = ""
    began_ms: int | None = None
    history_ends: int | None = None


def thread_of(meta: Record, written_at: str) -> Thread:
    """The thread that a `session_meta` payload, written at that time, tells of."""
    source = object_in(meta, "source").get("subagent")
    spawned = object_or_empty(object_or_empty(source).get("thread_spawn"))
    thread_id = text_in(meta, "id") or text_in(meta, "session_id")
    version = text_in(meta, "cli_version")
    role, nickname = (text_in(meta, name) or text_in(spawned, name) for name in ("agent_role", "agent_nickname"))
    began = text_in(meta, "timestamp") or written_at
    return Thread(
        thread_id=thread_id,
        session_id=text_in(meta, "session_id") or text_in(spawned, "parent_thread_id") or thread_id,
        agent=role or nickname or "codex",
        client="/".join(part for part in (text_in(meta, "originator") or "codex", version) if part),
        version=version,
        directory=folder_path(meta.get("cwd")),
        branch=text_or_empty(object_in(meta, "git").get("branch")),
        own_purpose=_own_purpose(source, text_in(meta, "thread_source")),
        forked_from=text_in(meta, "forked_from_id")
        or text_in(meta, "parent_thread_id")
        or text_in(spawned, "parent_thread_id"),
        began_ms=milliseconds_of_id(thread_id) or milliseconds(began),
        history_ends=whole_number(meta.get("subagent_history_start_ordinal")),
    )


def _own_purpose(source: object, thread_source: str) -> str:
    stated = [thread_source, text_or_empty(source)]
    if isinstance(source, Mapping):
        stated += [text_in(source, "other"), *map(str, source)]
    return next((purpose for purpose in stated if purpose in _OF_ITS_OWN), "")
