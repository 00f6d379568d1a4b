"""Runs of LangSmith: one a record as its export has them, or many as its client sends them (`post` and `patch`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from slowwave.transforms.core.exact_json import parse_json_text
from slowwave.transforms.imports.adapter import LeftOut, Record
from slowwave.transforms.imports.chats.chat_log import ChatLog, Part
from slowwave.transforms.imports.chats.model_call import ModelCall, answer_parts, call_parts, tokens_in
from slowwave.transforms.imports.record_values import number_in, object_in, objects_in, text_in

NAME = "langsmith"
_SESSIONS = ("session_id", "thread_id", "conversation_id")


def _producer(record: Record) -> str | None:
    sent = [*objects_in(record, "post"), *objects_in(record, "patch")]
    return "LangSmith" if any({"run_type", "inputs"} <= run.keys() for run in (record, *sent)) else None


def _parts(record: Record) -> Iterator[Part]:
    runs: dict[str, dict[str, Any]] = {}
    sent = [*objects_in(record, "post"), *objects_in(record, "patch")]
    for run in sent or [record]:
        said = {name: value for name, value in run.items() if value not in (None, {}, [])}
        runs[text_in(run, "id")] = runs.get(text_in(run, "id"), {}) | said
    for name, run in runs.items():
        if text_in(run, "parent_run_id"):
            yield LeftOut("a run within another")
        elif "inputs" not in run:
            yield from answer_parts(_call(name, run), to=name)
        else:
            yield from call_parts(_call(name, run))


def _call(name: str, run: Mapping[str, Any]) -> ModelCall:
    metadata, outputs = object_in(object_in(run, "extra"), "metadata"), parse_json_text(run.get("outputs"))
    usage = object_in(outputs, "usage_metadata") or object_in(outputs, "usage")
    return ModelCall(
        call_id=name,
        question=parse_json_text(run.get("inputs")),
        answer=outputs,
        at=run.get("start_time"),
        ended_at=run.get("end_time"),
        session=next((text_in(metadata, one) for one in _SESSIONS if text_in(metadata, one)), ""),
        project=text_in(run, "session_name"),
        user_id=text_in(metadata, "user_id"),
        model=text_in(metadata, "ls_model_name"),
        tokens=int(number_in(run, "total_tokens")) or tokens_in(usage),
        cost=number_in(run, "total_cost"),
        is_failed=bool(run.get("error")),
    )


LANGSMITH = ChatLog(NAME, 1, _producer, _parts)
