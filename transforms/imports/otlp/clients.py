"""Coding agents that send log records of their own, and how their events name what they tell."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from slowwave.transforms.imports.otlp.values import text

# By `query_source`: answers to a person. Others are titles and suggestions that the client has made.
TALKS = ("repl_main_thread", "sdk")
DETAILS = "gen_ai.client.inference.operation.details"


@dataclass(frozen=True)
class Client:
    """Names in the events of one agent: events without `prefix`, attributes as they are; '' for what it never tells.

    `turn`: tells the turn of an event. `tokens` add up. `scope`: of its spans and log records. `instead`: what to do
    for texts that it left out.
    """

    called: str
    prefix: str
    scope: str
    turn: str
    asked: tuple[str, str]
    answered: tuple[str, str]
    spent: str
    tokens: tuple[str, ...]
    cost: str
    instead: str

    @property
    def events(self) -> frozenset[str]:
        """The events that tell a part of a turn."""
        return frozenset({self.asked[0], self.answered[0], self.spent}) - {""}


CLIENTS = (
    Client(
        "Claude Code",
        "claude_code.",
        "com.anthropic.claude_code",
        "prompt.id",
        ("user_prompt", "prompt"),
        ("assistant_response", "response"),
        "api_request",
        ("input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens"),
        "cost_usd",
        "set OTEL_LOG_USER_PROMPTS=1 where it runs, or import its transcripts, which have all texts:"
        " `slowwave import claude-code ~/.claude/projects`",
    ),
    Client(
        "Gemini CLI",
        "gemini_cli.",
        "gemini-cli",
        "prompt_id",
        ("user_prompt", "prompt"),
        ("api_response", "response_text"),
        "api_response",
        ("total_token_count",),
        "",
        "set GEMINI_TELEMETRY_LOG_PROMPTS=true where it runs",
    ),
    Client(
        "Codex",
        "codex.",
        "codex",
        "",
        ("user_prompt", "prompt"),
        ("", ""),
        "sse_event",
        ("input_token_count", "output_token_count"),
        "",
        "set log_user_prompt = true under [otel] in its config.toml, or import its rollouts, which have the answers"
        " too: `slowwave import codex ~/.codex/sessions`",
    ),
)


def client_of(name: str) -> Client | None:
    """Return the client whose event has this name; None where it is of none."""
    return next((client for client in CLIENTS if name.startswith(client.prefix)), None)


def client_of_scope(scope: str) -> Client | None:
    """Return the client whose spans or log records have this scope."""
    return next((client for client in CLIENTS if scope.startswith(client.scope)), None)


def session_of(attributes: Mapping[str, Any]) -> str:
    """Return the session that an event of a client names; '' for none."""
    return text(attributes.get("session.id")) or text(attributes.get("conversation.id"))


def is_talk(attributes: Mapping[str, Any]) -> bool:
    """Whether what a span or an event tells of is part of the conversation, as far as it says."""
    source = text(attributes.get("query_source"))
    return not source or source.startswith(TALKS)


def context_of(name: str, attributes: Mapping[str, Any], raw: bytes) -> tuple[str, str]:
    """Return ids of a trace and a span for a log record that names none: those of its session, and of itself."""
    session = text(attributes.get("gen_ai.conversation.id")) or session_of(attributes)
    own = hashlib.blake2b(raw, digest_size=8).hexdigest()
    return digest_of(session or own, 16), own if name == DETAILS else ""


def digest_of(said: str, size: int) -> str:
    """Return so many bytes of a digest, as hexadecimal digits."""
    return hashlib.blake2b(said.encode("utf-8", "replace"), digest_size=size).hexdigest()
