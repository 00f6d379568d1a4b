"""Whose a rollout is: the thread, its session, agent and client, and where it was forked from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from slowwave.transforms.imports.codex.values import directory, mapping, milliseconds, milliseconds_of_id, text, whole
from slowwave.transforms.imports.made import Record

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
    source = mapping(meta.get("source")).get("subagent")
    spawned = mapping(mapping(source).get("thread_spawn"))
    thread_id = text(meta.get("id")) or text(meta.get("session_id"))
    version = text(meta.get("cli_version"))
    role, nickname = (text(meta.get(name)) or text(spawned.get(name)) for name in ("agent_role", "agent_nickname"))
    began = text(meta.get("timestamp")) or written_at
    return Thread(
        thread_id=thread_id,
        session_id=text(meta.get("session_id")) or text(spawned.get("parent_thread_id")) or thread_id,
        agent=role or nickname or "codex",
        client="/".join(part for part in (text(meta.get("originator")) or "codex", version) if part),
        version=version,
        directory=directory(meta.get("cwd")),
        branch=text(mapping(meta.get("git")).get("branch")),
        own_purpose=_own_purpose(source, text(meta.get("thread_source"))),
        forked_from=text(meta.get("forked_from_id"))
        or text(meta.get("parent_thread_id"))
        or text(spawned.get("parent_thread_id")),
        began_ms=milliseconds_of_id(thread_id) or milliseconds(began),
        history_ends=whole(meta.get("subagent_history_start_ordinal")),
    )


def _own_purpose(source: object, thread_source: str) -> str:
    stated = [thread_source, text(source)]
    if isinstance(source, Mapping):
        stated += [text(source.get("other")), *map(str, source)]
    return next((purpose for purpose in stated if purpose in _OF_ITS_OWN), "")
