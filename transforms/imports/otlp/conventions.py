"""Values as OTLP JSON writes them, names of attributes by every convention, and what clients of agents write."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from slowwave.transforms.core.blank import says_nothing
from slowwave.transforms.core.exact_json import parse_json_value
from slowwave.transforms.imports.trace_values import every_text, text_of

# ------------------------------------------------------------------------------------------
# Values as OTLP JSON writes them, as plain ones; numbers may be texts there, and times are nanoseconds.

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - times are naive and hold UTC everywhere
# 9999-12-31, in nanoseconds
_LAST = 253_402_300_799 * 10**9
_DEEPEST = 64
_WHOLE = re.compile(r"[+-]?[0-9]{1,20}")
_NUMBERED = re.compile(r"([0-9]{1,6})\.(.+)")


def plain_value(value: Any, depth: int = 0) -> Any:  # noqa: ANN401 - whatever JSON holds
    """An `AnyValue` as the value it holds; None where it holds none, or lies too deep to mean anything."""
    if not isinstance(value, dict) or depth > _DEEPEST:
        return None
    if "stringValue" in value:
        text_value = value["stringValue"]
        return text_value if isinstance(text_value, str) else None
    if "intValue" in value:
        return whole_value(value["intValue"])
    if "doubleValue" in value:
        return number_value(value["doubleValue"])
    if "boolValue" in value:
        return value["boolValue"] is True or value["boolValue"] == "true"
    if "arrayValue" in value:
        held = value["arrayValue"]
        values = held.get("values") if isinstance(held, dict) else None
        return [plain_value(one, depth + 1) for one in values] if isinstance(values, list) else []
    if "kvlistValue" in value:
        held = value["kvlistValue"]
        return attributes(held.get("values") if isinstance(held, dict) else None, depth + 1)
    return None


def attributes(pairs: Any, depth: int = 0) -> dict[str, Any]:  # noqa: ANN401
    """A list of `KeyValue` as a mapping; what is no pair is passed over."""
    if not isinstance(pairs, list):
        return {}
    return {
        pair["key"]: plain_value(pair.get("value"), depth)
        for pair in pairs
        if isinstance(pair, dict) and isinstance(pair.get("key"), str)
    }


def whole_value(value: Any) -> int | None:  # noqa: ANN401
    """A whole number, which may be written as text."""
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def number_value(value: Any) -> float | None:  # noqa: ANN401
    """A finite number, which may be written as text."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def text_value(value: Any) -> str:  # noqa: ANN401
    """A text without white space around it; '' for what is none. Numbers of ids and names are taken as texts."""
    if isinstance(value, str):
        return value.strip()
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def event_name(log: Mapping[str, Any], attributes: Mapping[str, Any], body: Any) -> str:  # noqa: ANN401
    """Return the full name of an event; Claude Code has it in the body, and its end in `event.name`."""
    name, stated = text_value(log.get("eventName")), text_value(attributes.get("event.name"))
    if not name or " " in name:  # Codex has the line of its source there
        name = stated or name
    if isinstance(body, str) and name and "." not in name and body.endswith(f".{name}"):
        return body
    return name


def nanoseconds(value: Any) -> int | None:  # noqa: ANN401
    """A time that can be meant: after 1970 and before the year 10000."""
    found = whole_value(value)
    return found if found is not None and 0 < found < _LAST else None


def instant(ns: int, microseconds: int = 0) -> str:
    """A time as landing reads it, some microseconds later."""
    return f"{(_EPOCH + timedelta(microseconds=ns // 1000 + microseconds)).isoformat()}Z"


def numbered_objects(held: Mapping[str, Any], prefix: str) -> list[dict[str, Any]]:
    """Objects that are flattened as `prefix` + `0.name`, `1.name`, …, in the order of their numbers."""
    found: dict[int, dict[str, Any]] = {}
    for key, value in held.items():
        if key.startswith(prefix) and (place := _NUMBERED.fullmatch(key, len(prefix))):
            found.setdefault(int(place[1]), {})[place[2]] = value
    return [found[index] for index in sorted(found)]


Kind = Literal["turn", "chain", "call", "search", "retrieval", "change", "judge", "tool", "other"]


@dataclass(frozen=True)
class Flat:
    """Messages in numbered attributes, as `gen_ai.prompt.0.content`: what comes before the number, and after it."""

    prefix: str
    field: str = ""


# ------------------------------------------------------------------------------------------------- kinds of spans

# Of the first of these attributes that a span has and whose value is known.
KINDS: tuple[tuple[str, Mapping[str, Kind]], ...] = (
    (
        "gen_ai.operation.name",
        {
            "invoke_agent": "turn",
            "invoke_workflow": "turn",
            "chat": "call",
            "generate_content": "call",
            "text_completion": "call",
            "realtime_inference": "call",
            "fetch_response": "call",
            "execute_tool": "tool",
            "search_memory": "search",
            "retrieval": "retrieval",
            "create_memory": "change",
            "update_memory": "change",
            "upsert_memory": "change",
            "delete_memory": "change",
            "delete_memory_store": "change",
            # of Gemini CLI
            "user_prompt": "turn",
            "agent_call": "turn",
            "llm_call": "call",
            "tool_call": "tool",
        },
    ),
    (
        "openinference.span.kind",
        {
            "AGENT": "turn",
            "CHAIN": "chain",
            "LLM": "call",
            "TOOL": "tool",
            "RETRIEVER": "retrieval",
            "EVALUATOR": "judge",
            "GUARDRAIL": "judge",
        },
    ),
    (
        "ai.operationId",
        {
            "ai.generateText": "turn",
            "ai.streamText": "turn",
            "ai.generateObject": "turn",
            "ai.streamObject": "turn",
            "ai.generateText.doGenerate": "call",
            "ai.streamText.doStream": "call",
            "ai.generateObject.doGenerate": "call",
            "ai.streamObject.doStream": "call",
            "ai.toolCall": "tool",
        },
    ),
    ("traceloop.span.kind", {"workflow": "turn", "agent": "turn", "task": "chain", "tool": "tool"}),
    ("llm.request.type", {"chat": "call", "completion": "call"}),
    (
        "mlflow.spanType",
        {
            "AGENT": "turn",
            "WORKFLOW": "turn",
            "CHAIN": "chain",
            "TASK": "chain",
            "FUNCTION": "chain",
            "UNKNOWN": "chain",
            "LLM": "call",
            "CHAT_MODEL": "call",
            "TOOL": "tool",
            "RETRIEVER": "retrieval",
            "EVALUATOR": "judge",
            "GUARDRAIL": "judge",
        },
    ),
)
# What version 1 of the adapter knew: its calls are interactions in homes that it wrote, and stay the ones they are.
FIRST_KINDS = ("gen_ai.operation.name", "openinference.span.kind")
LATER_TURNS = frozenset({"user_prompt", "agent_call"})
FIRST_CALLS = frozenset({"chat", "generate_content", "text_completion", "LLM"})
# Spans that name what they are only in their name.
NAMED: Mapping[str, Kind] = {
    "claude_code.interaction": "turn",
    "claude_code.llm_request": "call",
    "claude_code.tool": "tool",
    # as `clients` calls what events tell
    "gemini_cli.interaction": "turn",
    "codex.interaction": "turn",
}

# ------------------------------------------------------------------------------------------------- what was said

INPUT_MESSAGES: tuple[str | Flat, ...] = (
    "gen_ai.input.messages",
    "ai.prompt.messages",
    Flat("llm.input_messages.", "message."),
    Flat("gen_ai.prompt."),
)
OUTPUT_MESSAGES: tuple[str | Flat, ...] = (
    "gen_ai.output.messages",
    Flat("llm.output_messages.", "message."),
    Flat("gen_ai.completion."),
)
# A text, or an object with the question or the answer in it, mostly as JSON.
INPUTS = ("input.value", "ai.prompt", "traceloop.entity.input", "mlflow.spanInputs", "user_prompt", "gen_ai.prompt")
OUTPUTS = (
    "output.value",
    "ai.response.text",
    "ai.response.object",
    "ai.result.text",
    "ai.result.object",
    "traceloop.entity.output",
    "mlflow.spanOutputs",
    "response.model_output",
    "gen_ai.completion",
)
# What producers write in place of a text that is not to be seen.
HIDDEN = frozenset({"__REDACTED__", "<REDACTED>", "[REDACTED]"})

# ------------------------------------------------------------------------------------------------- what it took

# Numbers of tokens that add up, of the first of these of which a span has any.
TOKENS = (
    ("llm.token_count.total",),
    ("gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"),
    ("llm.token_count.prompt", "llm.token_count.completion"),
    ("gen_ai.usage.prompt_tokens", "gen_ai.usage.completion_tokens"),
    ("ai.usage.inputTokens", "ai.usage.outputTokens"),
    ("ai.usage.promptTokens", "ai.usage.completionTokens"),
    ("input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens"),
    ("gen_ai.usage.total_tokens",),
    ("llm.usage.total_tokens",),
    ("ai.usage.totalTokens",),
)
# An object of counts, as JSON.
TOKEN_OBJECTS = ("mlflow.chat.tokenUsage",)
COSTS = ("llm.cost.total", "gen_ai.usage.cost")

# ------------------------------------------------------------------------------------------------- whose it is

MODELS = (
    "gen_ai.response.model",
    "gen_ai.request.model",
    "llm.model_name",
    "ai.response.model",
    "ai.model.id",
    "mlflow.llm.model",
    "model",
)
AGENTS = (
    "gen_ai.agent.name",
    "agent.name",
    "gen_ai.workflow.name",
    "ai.telemetry.functionId",
    "traceloop.workflow.name",
)
SESSIONS = (
    "gen_ai.conversation.id",
    "session.id",
    "traceloop.association.properties.session_id",
    "ai.telemetry.metadata.sessionId",
    "mlflow.trace.session",
)
USERS = (
    "user.id",
    "enduser.id",
    "traceloop.association.properties.user_id",
    "ai.telemetry.metadata.userId",
    "mlflow.trace.user",
)
RESPONSE_IDS = ("gen_ai.response.id", "ai.response.id")

# By these a span or a log record is known to be of a model, an agent or a memory.
MEANT = (
    "gen_ai.", "openinference.", "llm.", "input.value", "output.value", "annotations.", "evaluations.",
    "trace.annotations.", "trace.evaluations.", "session.annotations.", "session.evaluations.",
    "ai.operationId", "ai.prompt", "ai.response.", "ai.toolCall.", "traceloop.", "mlflow.",
)  # fmt: skip


# ------------------------------------------------------------------------------------------
# Coding agents that send log records of their own, and how their events name what they tell.

# By `query_source`: answers to a person. Others are titles and suggestions that the client has made.
TALKS = ("repl_main_thread", "sdk")
DETAILS = "gen_ai.client.inference.operation.details"


@dataclass(frozen=True)
class ClientConventions:
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
    ClientConventions(
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
    ClientConventions(
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
    ClientConventions(
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


def client_of(name: str) -> ClientConventions | None:
    """Return the client whose event has this name; None where it is of none."""
    return next((client for client in CLIENTS if name.startswith(client.prefix)), None)


def client_of_scope(scope: str) -> ClientConventions | None:
    """Return the client whose spans or log records have this scope."""
    return next((client for client in CLIENTS if scope.startswith(client.scope)), None)


def session_of(attributes: Mapping[str, Any]) -> str:
    """Return the session that an event of a client names; '' for none."""
    return text_value(attributes.get("session.id")) or text_value(attributes.get("conversation.id"))


def is_talk(attributes: Mapping[str, Any]) -> bool:
    """Whether what a span or an event tells of is part of the conversation, as far as it says."""
    source = text_value(attributes.get("query_source"))
    return not source or source.startswith(TALKS)


def context_of(name: str, attributes: Mapping[str, Any], raw: bytes) -> tuple[str, str]:
    """Return ids of a trace and a span for a log record that names none: those of its session, and of itself."""
    session = text_value(attributes.get("gen_ai.conversation.id")) or session_of(attributes)
    own = hashlib.blake2b(raw, digest_size=8).hexdigest()
    return digest_of(session or own, 16), own if name == DETAILS else ""


def digest_of(said: str, size: int) -> str:
    """Return so many bytes of a digest, as hexadecimal digits."""
    return hashlib.blake2b(said.encode("utf-8", "replace"), digest_size=size).hexdigest()


# ------------------------------------------------------------------------------------------
# Messages, as the conventions write them.

_DEEPEST_TEXT = 6


@dataclass(frozen=True)
class SpanMessage:
    """A message, with its content as it was written: a text, or parts of any kind."""

    role: str
    content: Any

    @property
    def text(self) -> str:
        """What was said, without what is no text."""
        return text_of(self.content)

    @property
    def read(self) -> str:
        """All that the model read with it, results of tools included."""
        return every_text(self.content, _DEEPEST_TEXT)


def messages_in_json(value: Any, role: str) -> Iterator[SpanMessage]:  # noqa: ANN401
    """Messages as the conventions have them since 1.37; one without a role, and a text alone, is the side's own."""
    messages = parse_json_value(value)
    if isinstance(messages, str) and not says_nothing(messages) and messages not in HIDDEN:
        yield SpanMessage(role, messages)
    held = [one for one in (messages if isinstance(messages, list) else [messages]) if isinstance(one, dict)]
    if len(held) > 1 and role == "assistant" and all(map(_is_message_piece, held)):
        yield SpanMessage("model", "".join(text_of(one["parts"]) for one in held))
        return
    for message in held:
        parts = message.get("parts", message.get("content", [message]))
        yield SpanMessage(str(message.get("role") or role).lower(), parts)


def _is_message_piece(message: Mapping[str, Any]) -> bool:
    """Whether it is Gemini's own form of a message, of which an answer that was streamed has many."""
    parts = message.get("parts")
    return (
        message.get("role") in {"model", None}
        and isinstance(parts, list)
        and all(isinstance(part, dict) and "type" not in part for part in parts)
    )


def flat_messages(held: Mapping[str, Any], place: Flat, role: str) -> Iterator[SpanMessage]:
    """Yield the messages that are flattened into attributes at a place."""
    for message in numbered_objects(held, place.prefix):
        content = message.get(f"{place.field}content", message.get(f"{place.field}text"))
        parts = [part.get("message_content.text") for part in numbered_objects(message, f"{place.field}contents.")]
        parts += [part.get("text") for part in numbered_objects(message, f"{place.field}content.")]
        said = [text_of(parsed_parts(content)), *(part for part in parts if isinstance(part, str))]
        text = "\n".join(one for one in said if one)
        yield SpanMessage(str(message.get(f"{place.field}role") or role).lower(), "" if text in HIDDEN else text)


def parsed_parts(content: Any) -> Any:  # noqa: ANN401
    """The parts of a message that are JSON as text; any other content as it is."""
    if not (isinstance(content, str) and content.startswith("[{")):
        return content
    parts = parse_json_value(content)
    return parts if text_of(parts) else content
