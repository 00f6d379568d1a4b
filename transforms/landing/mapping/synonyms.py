"""Under which other names producers have the fields of the contract: declared here, once.

`SURE` are names that mean the field and little else: a row that lacks the field and has one of these is not landed
without a word. `LIKELY` are names that often do: they are proposed, and rows land as they are.
"""

from __future__ import annotations

import re

# Upper case, `_`, `-`, `.` and spaces make no difference: `createdAt` is `created_at`.
_JOINTS = re.compile(r"[ _.\-]")

_TIMES = (
    "ts", "timestamp", "time", "datetime", "date_time", "created", "created_on", "created_time", "date_created",
    "event_time", "occurred_at", "happened_at", "logged_at", "started_at", "start_time", "sent_at", "date",
)  # fmt: skip

SURE: dict[str, tuple[str, ...]] = {
    "prompt": (
        "question", "query", "user_prompt", "user_message", "user_input", "user_query", "user_question", "prompt_text",
        "input_text", "instruction", "human_message",
    ),
    "response": (
        "completion", "answer", "reply", "output", "output_text", "response_text", "completion_text", "generated_text",
        "final_answer", "model_response", "model_output", "llm_response", "llm_output", "ai_response", "ai_message",
        "bot_response", "agent_response", "assistant_response", "assistant_message",
    ),
    "created_at": (*_TIMES, "changed_at"),
    "changed_at": ("updated_at", "modified_at", "last_updated", "updated", "modified", "created_at", *_TIMES),
    "memories_used": (
        "retrieved", "retrieved_memories", "retrieved_memory_ids", "retrieved_ids", "memories", "memory_ids",
        "used_memories", "used_memory_ids", "memory_used", "injected_memories", "memories_injected",
        "memories_retrieved", "context_memories", "relevant_memories", "recalled", "recalled_memories",
    ),
    "success": (
        "ok", "passed", "succeeded", "successful", "is_success", "is_successful", "was_successful", "task_success",
        "is_ok", "solved",
    ),
}  # fmt: skip

LIKELY: dict[str, tuple[str, ...]] = {
    "prompt": ("input", "request", "message", "task_prompt", "text"),
    "response": ("result", "result_text", "outputs", "assistant", "generation"),
    "memories_used": ("memory", "context_ids", "retrieved_context", "recall"),
    "success": ("outcome", "status", "resolved", "correct", "pass", "verdict", "result"),
    "interaction_id": ("id", "request_id", "trace_id", "run_id", "message_id", "turn_id", "event_id", "uuid", "_id"),
    "recorded_at": ("updated_at", "ended_at", "end_time", "finished_at", "completed_at"),
    "session_id": (
        "session",
        "thread",
        "thread_id",
        "conversation",
        "conversation_id",
        "conversation_hash",
        "chat_id",
        "dialog_id",
    ),
    "user_id": ("user", "username", "customer_id", "end_user", "account_id"),
    "project": ("repo", "repository", "workspace", "project_name", "project_id", "namespace", "app"),
    "agent": ("agent_name", "agent_id", "bot", "bot_name", "assistant_name"),
    "client": ("client_name", "application", "user_agent"),
    "tokens": ("total_tokens", "token_count", "tokens_total", "tokens_used", "num_tokens"),
    "cost": ("total_cost", "cost_usd", "price", "spend"),
    "chunks_used": ("documents", "document_ids", "doc_ids", "chunks", "chunk_ids", "retrieved_docs", "passages"),
    "memories_cited": ("citations", "cited", "cited_memories", "cited_memory_ids", "memory_citations"),
    "memories_offered": ("candidates", "memory_candidates", "search_results"),
    "task_type": ("task_kind", "kind_of_task"),
    "task": ("task_description", "task_name", "goal"),
    "strategy": ("approach", "plan", "method"),
    "error_message": ("error", "err", "exception", "error_text", "failure_reason"),
    "duration_ms": ("latency_ms", "elapsed_ms", "took_ms", "response_time_ms", "duration_millis"),
    "feedback": ("user_feedback", "comment", "review"),
    "memory_id": ("mem_id", "memory_key", "fact_id"),
    "content": ("memory_text", "memory_content", "fact", "text", "body"),
    "memory_type": ("mem_type", "fact_type"),
}


def plain(name: str) -> str:
    """A name without what producers spell differently."""
    return _JOINTS.sub("", name).lower()


SURE_NAMES: dict[str, dict[str, int]] = {  # by field: plain name, and its place in the list
    field: {plain(name): at for at, name in reversed(list(enumerate((field, *names))))} for field, names in SURE.items()
}
LIKELY_NAMES: dict[str, frozenset[str]] = {field: frozenset(map(plain, names)) for field, names in LIKELY.items()}
# What tells a CSV header of ours under other names; a time, or an `ok`, stands in many tables.
TELLING: frozenset[str] = frozenset({name for field in ("prompt", "response") for name in SURE_NAMES[field]})
