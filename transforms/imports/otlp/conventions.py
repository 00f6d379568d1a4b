"""Where each convention keeps what an interaction needs, as one table: kinds of spans, texts, tokens, ids.

Names as their producers declare them: OpenTelemetry's GenAI conventions up to v0.1.0 of their own repository,
OpenInference, the AI SDK (versions 3 to 7), OpenLLMetry, MLflow, and the spans of Claude Code and Gemini CLI.
An attribute means the same wherever it stands, so no span is assigned to a convention: its first name here counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

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
