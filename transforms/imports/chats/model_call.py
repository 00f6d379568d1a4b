"""One request to a model with its answer, as logs of requests keep it: a turn of its own.

A request repeats the conversation before it: what was asked is the last message of the user's. While an agent works,
several requests ask the same; that which answers in words is the turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from slowwave.transforms.core.hashing import digest
from slowwave.transforms.imports.adapter import LeftOut
from slowwave.transforms.imports.chats.chat_log import Conversation, Message, Part
from slowwave.transforms.imports.record_values import number_in, object_in, objects_in, text_in
from slowwave.transforms.imports.trace_values import answer_in, question_in

WITHOUT_TEXT = "a request without the text of its question"
FOR_TOOLS = "a request that was answered by calls of tools: its turn ends with a later one"
_INPUTS = ("prompt_tokens", "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_OUTPUTS = ("completion_tokens", "output_tokens")


@dataclass(frozen=True, kw_only=True)
class ModelCall:
    """A request as its log states it: `question` and `answer` in whatever form, `at` and `ended_at` as written."""

    call_id: str
    question: object
    answer: object
    at: object
    ended_at: object = None
    session: str = ""
    project: str = ""
    user_id: str = ""
    model: str = ""
    tokens: int = 0
    cost: float = 0.0
    is_failed: bool = False


def call_parts(call: ModelCall) -> Iterator[Part]:
    """The parts of a chat log that a request is."""
    question = question_in(call.question)
    if question is None or question.is_json:
        yield LeftOut(WITHOUT_TEXT)
        return
    if _asks_for_tools(call.answer):
        yield LeftOut(FOR_TOOLS, example=question.text[:200])
        return
    name = call.call_id or digest([question.text, str(call.at)])
    yield Conversation(call.session or name, call.at, call.project, user_id=call.user_id)
    yield Message("user", question.text, call.at, name)
    yield from answer_parts(call)


def answer_parts(call: ModelCall, to: str = "") -> Iterator[Part]:
    """The answer of a request, where it has one: to the question before it, or to that with an id."""
    answer = answer_in(call.answer)
    text = answer.text if answer is not None and not answer.is_json else ""
    end = "api_error" if call.is_failed else "ended"
    if text or call.is_failed:
        yield Message("agent", text, call.ended_at, "", call.model, call.tokens, call.cost, end=end, to=to)


def tokens_in(usage: Mapping[str, Any]) -> int:
    """Return the tokens of a request, by the names of OpenAI or Anthropic."""
    total = number_in(usage, "total_tokens")
    return int(total or sum(number_in(usage, name) for name in (*_INPUTS, *_OUTPUTS)))


def _asks_for_tools(answer: object) -> bool:
    """Whether an answer ends in calls of tools, as OpenAI, its Responses API or Anthropic writes it."""
    first = next(iter(objects_in(answer, "choices")), {})
    if text_in(first, "finish_reason") == "tool_calls" or text_in(answer, "stop_reason") == "tool_use":
        return True
    messages = [object_in(first, "message"), answer, *(objects_in(answer, "messages")[-1:])]
    if any(objects_in(message, "tool_calls") for message in messages):
        return True
    return any(text_in(one, "type") == "function_call" for one in objects_in(answer, "output"))
