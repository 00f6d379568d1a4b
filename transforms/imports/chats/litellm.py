"""Calls that LiteLLM logged: rows of its table of spend logs, or payloads of its logging callbacks."""

from __future__ import annotations

from collections.abc import Iterator

from slowwave.transforms.core.exact_json import parse_json_text
from slowwave.transforms.imports.adapter import LeftOut, Record
from slowwave.transforms.imports.chats.chat_log import ChatLog, Part
from slowwave.transforms.imports.chats.model_call import ModelCall, call_parts
from slowwave.transforms.imports.record_values import number_in, object_in, text_in

NAME = "litellm"


def producer(record: Record) -> str | None:
    """Return who wrote a record that is a call which LiteLLM logged; None for any other."""
    is_one = {"call_type", "startTime"} <= record.keys() and not {"spend", "response_cost"}.isdisjoint(record)
    return "LiteLLM" if is_one else None


def _parts(record: Record) -> Iterator[Part]:
    if producer(record) is None:
        yield LeftOut("a record that is no call")
        return
    request, response = parse_json_text(record.get("proxy_server_request")), parse_json_text(record.get("response"))
    messages = parse_json_text(record.get("messages")) or object_in({"": request}, "").get("messages")
    if not messages:
        yield LeftOut("a call without its texts (set `store_prompts_in_spend_logs: true`)")
        return
    metadata = object_in({"metadata": parse_json_text(record.get("metadata"))}, "metadata")
    yield from call_parts(
        ModelCall(
            call_id=text_in(record, "request_id") or text_in(record, "id"),
            question=messages,
            answer=response,
            at=record.get("startTime"),
            ended_at=record.get("endTime"),
            session=text_in(record, "session_id") or text_in(record, "trace_id"),
            project=text_in(metadata, "user_api_key_team_alias") or text_in(metadata, "user_api_key_alias"),
            user_id=text_in(record, "end_user") or text_in(metadata, "user_api_key_end_user_id"),
            model=text_in(record, "model"),
            tokens=int(number_in(record, "total_tokens")),
            cost=number_in(record, "response_cost") or number_in(record, "spend"),
            is_failed=text_in(record, "status") == "failure",
        )
    )


LITELLM = ChatLog(NAME, 1, producer, _parts)
