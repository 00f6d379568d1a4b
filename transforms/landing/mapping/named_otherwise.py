"""Rows that lack what counts most and have it under another name: not landed without a word, and how they can be.

Decided row by row, so that it makes no difference how a log was cut into files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

from slowwave.transforms.core.blank import says_nothing
from slowwave.transforms.core.schema import choose_columns
from slowwave.transforms.core.vocabularies import LandedTable
from slowwave.transforms.landing.coerce import coerce_column
from slowwave.transforms.landing.delivered_rows import DeliveredRows, has_value
from slowwave.transforms.landing.mapping.contract import FIELDS, convert_value
from slowwave.transforms.landing.tables import Interactions

# Under which other names producers have the fields of the contract: declared here, once.
# `SURE` are names that mean the field and little else: a row that lacks the field and has one of these is not landed
# without a word. `LIKELY` are names that often do: they are proposed, and rows land as they are.

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


_OF_INTERACTIONS = (*choose_columns(Interactions, "prompt", "response", "created_at", "memories_used"), "success")
# What is looked for under other names, by the kind of a row.
WANTED: dict[LandedTable | None, tuple[str, ...]] = {
    "interactions": _OF_INTERACTIONS,
    "outcomes": ("created_at", "success"),
    "memories": ("changed_at",),
    None: _OF_INTERACTIONS,
}
_REQUIRED = frozenset({"created_at", "changed_at"})
_SHELL_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.=")


def named_otherwise(
    rows: DeliveredRows, kinds: Sequence[LandedTable | None], *, is_stated: bool = False
) -> dict[int, tuple[str, str]]:
    """{position: (field, reason)} of rows that lack a field and have a value for it under a name that is surely its.

    `kinds`: what each row is, None: not known; `is_stated`: it was said of all rows, not inferred from their
    fields. A row for an outcome lacks no prompt where it says its `outcome_id` or `task`.
    """
    suspects = _suspects(rows.fields)
    if not suspects:
        return {}
    found: dict[int, list[tuple[str, str]]] = {}
    for field, names in suspects.items():
        is_stated_by = has_value(rows, field)
        lacking = [i for i, kind in enumerate(kinds) if not is_stated_by[i] and _may_want(kind, field, is_stated)]
        if field == "prompt" and lacking:
            lacking = _not_outcomes(rows, lacking, kinds)
        for i, name in _first_fitting(rows, field, names, lacking).items():
            found.setdefault(i, []).append((field, name))
    return {
        i: (pairs[0][0], _reason(pairs, lands_without=kinds[i] is not None and not _REQUIRED & {f for f, _ in pairs}))
        for i, given in sorted(found.items())
        if (pairs := _relevant_pairs(given, kinds[i], is_stated))
    }


def map_options(pairs: Iterable[tuple[str, str]]) -> str:
    """The options of `land` that take fields from these names, as a shell reads them."""
    return " ".join(f"--map {_shell_quoted(f'{field}={name}')}" for field, name in pairs)


def _shell_quoted(text: str) -> str:
    if set(text) <= _SHELL_SAFE:
        return text
    return "'" + text.replace("'", "'\"'\"'") + "'"


def _suspects(fields: set[str]) -> dict[str, list[str]]:
    """Per field of the contract, the names of these that are surely its, best first."""
    by_plain: dict[str, list[str]] = {}
    for name in fields:
        by_plain.setdefault(plain(name), []).append(name)
    found = {}
    for field, places in SURE_NAMES.items():
        names = [name for known in by_plain.keys() & places.keys() for name in by_plain[known] if name != field]
        if names:
            found[field] = sorted(names, key=lambda name, places=places: (places[plain(name)], name))
    return found


def _list_values(rows: DeliveredRows, name: str) -> Sequence[Any]:
    if name not in rows.fields:
        return [None] * len(rows)
    values = rows.values(name)
    return values.to_list() if isinstance(values, pl.Series) else values


def _may_want(kind: LandedTable | None, field: str, is_stated: bool) -> bool:
    return field in WANTED[kind] or (kind == "outcomes" and not is_stated and field in _OF_INTERACTIONS)


def _not_outcomes(rows: DeliveredRows, positions: list[int], kinds: Sequence[LandedTable | None]) -> list[int]:
    outcome_id, task = has_value(rows, "outcome_id"), has_value(rows, "task")
    return [i for i in positions if kinds[i] != "outcomes" or not (outcome_id[i] or task[i])]


def _first_fitting(rows: DeliveredRows, field: str, names: list[str], positions: list[int]) -> dict[int, str]:
    """For each row that has one, the first of the names with a value that the field would take."""
    found: dict[int, str] = {}
    for name in names:
        left = [i for i in positions if i not in found]
        if not left:
            break
        values = _list_values(rows, name)
        held = [i for i in left if values[i] is not None]
        fitting = fits(field, [values[i] for i in held])
        found |= {i: name for i, does_fit in zip(held, fitting, strict=True) if does_fit}
    return found


def fits(field: str, values: Sequence[Any]) -> list[bool]:
    """Whether each value, mapped to the field, would say something there."""
    column = FIELDS[field]
    series, _ = coerce_column(column, [convert_value(column, value)[0] for value in values])
    if column.kind == "text":
        return [value is not None and not says_nothing(value) for value in series]
    return series.is_not_null().to_list()


def _relevant_pairs(pairs: list[tuple[str, str]], kind: LandedTable | None, is_stated: bool) -> list[tuple[str, str]]:
    """What is said of a row: nothing where its kind could not be known even then."""
    fields = {field for field, _ in pairs}
    if kind is None:
        return pairs if fields & {"prompt", "success"} else []
    if kind == "outcomes" and not is_stated and "prompt" not in fields:
        return [(field, name) for field, name in pairs if field in WANTED["outcomes"]]
    return pairs


def _reason(pairs: list[tuple[str, str]], *, lands_without: bool) -> str:
    fields, names = _and([field for field, _ in pairs]), _and([repr(name)[1:-1] for _, name in pairs])
    command = "slowwave land --retry-quarantine"
    otherwise = f"; `{command} --as-is` leaves it in extra" if lands_without else ""
    return f"the row lacks {fields}, and has {names}: `{command} {map_options(pairs)}` lands it so{otherwise}"


def _and(words: list[str]) -> str:
    return ", ".join(words[:-1]) + f" and {words[-1]}" if len(words) > 1 else words[0]
