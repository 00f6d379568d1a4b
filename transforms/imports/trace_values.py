"""What traces of any tool hold: questions and answers, memories that a search found, and evaluations."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import orjson

from slowwave.transforms.core.blank import says_nothing
from slowwave.transforms.imports.adapter import OptionsError

_QUESTION_NAMES = (
    "messages",
    "input",
    "inputs",
    "question",
    "query",
    "prompt",
    "user_input",
    "user_message",
    "contents",
    "text",
    "content",
)
_ANSWER_NAMES = (
    "output",
    "outputs",
    "answer",
    "response",
    "result",
    "choices",
    "candidates",
    "generations",
    "messages",
    "message",
    "content",
    "text",
    "completion",
)
USER_ROLES, ASSISTANT_ROLES = frozenset({"user", "human"}), frozenset({"assistant", "ai", "model"})
_TEXT_TYPES = frozenset({"text", "input_text", "output_text"})
_DEEPEST = 6
# A call of a function as decorators of tracing tools write it down.
_CALL = ({"args"}, {"kwargs"}, {"args", "kwargs"})
_CALL_BEGINS = 12
# What a choice or a candidate has its message in.
_AROUND = ("message", "content")
_OBJECT = re.compile(r"<[\w.]+(?: object)? at 0x[0-9a-fA-F]+>")


@dataclass(frozen=True)
class TracedText:
    """A text, and whether it is the whole value as JSON, because nothing in it is known as question or answer."""

    text: str
    is_json: bool = False


def question_in(value: Any) -> TracedText | None:  # noqa: ANN401 - whatever JSON holds
    """The question in an input: the text itself, the user's last message, or what an object calls by such a name.

    None where there is none: also in messages among which no text is the user's.
    """
    return _text_in_value(value, _QUESTION_NAMES, USER_ROLES)


def answer_in(value: Any) -> TracedText | None:  # noqa: ANN401
    """The answer in an output, likewise: the last message of the assistant's."""
    return _text_in_value(value, _ANSWER_NAMES, ASSISTANT_ROLES)


def text_of(content: Any) -> str:  # noqa: ANN401
    """The text of a message's content, which is a text or a list of parts; what is not text, as images, is left out."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "\n".join(part for part in map(_text_in_part, content) if part)


def _text_in_part(part: Any) -> str:  # noqa: ANN401
    if isinstance(part, str):
        return part
    if not isinstance(part, dict) or part.get("thought") is True:
        return ""
    kind = part.get("type", "text")
    if not isinstance(kind, str) or kind not in _TEXT_TYPES:
        return part["transcript"] if isinstance(part.get("transcript"), str) else ""  # of what was spoken
    return next((part[name] for name in ("text", "content") if isinstance(part.get(name), str)), "")


def _text_in_value(value: Any, names: Sequence[str], roles: frozenset[str]) -> TracedText | None:  # noqa: ANN401
    if value is None or value in ("", [], {}):
        return None
    if isinstance(value, str):
        called = _call_in(value)
        if called is None:
            return TracedText(value)
        said = _find_text(called, names, roles, 0)
        return TracedText(said or value) if any(called.values()) else None
    if _is_call(value) and not any(value.values()):
        return None
    found = _find_text(value, names, roles, 0)
    if found is not None:
        return TracedText(found) if found else None
    try:
        return TracedText(orjson.dumps(value).decode(), is_json=True)
    except orjson.JSONEncodeError:  # which is how it says that lists lie in lists too deep
        return None


def _find_text(value: Any, names: Sequence[str], roles: frozenset[str], depth: int) -> str | None:  # noqa: ANN401
    """The text looked for; '' where messages have none of these roles; None where the value is of no known form."""
    if isinstance(value, str):
        return value
    if depth > _DEEPEST:
        return None
    if isinstance(value, list):
        return _text_in_messages(value, roles)
    if _is_call(value):
        return _text_in_call(value, names, roles, depth)
    if isinstance(value, dict):
        if (role := _role_of(value)) is not None:
            return text_of(_content_of(value)) if role in roles else ""
        for name in names:
            held = value.get(name)
            if held not in (None, "", [], {}) and (found := _find_text(held, names, roles, depth + 1)) is not None:
                return found
    return None


def _text_in_messages(value: list[Any], roles: frozenset[str]) -> str | None:
    if value and all(isinstance(one, list) and any(isinstance(part, dict) for part in one) for one in value):
        # one of several inputs at once, as LangChain has them
        return _text_in_messages(value[0], roles)
    is_known = False
    for message in reversed(value):
        held = [message.get(name) for name in _AROUND] if isinstance(message, dict) and "role" not in message else []
        inner = next((one for one in held if isinstance(one, dict)), message)
        role = _role_of(inner)
        is_known = is_known or role is not None
        if role in roles and not _is_result(inner) and (said := text_of(_content_of(inner))):
            return said
    parts = text_of(value)
    return "" if is_known else parts or None


def _is_result(message: Any) -> bool:  # noqa: ANN401
    """Whether a message in the user's name hands back what tools said: then its texts are the client's."""
    content = _content_of(message)
    return isinstance(content, list) and any(
        isinstance(one, dict) and one.get("type") == "tool_result" for one in content
    )


def _is_call(value: Any) -> bool:  # noqa: ANN401
    """Whether it is a call that was written down: its arguments by place, by name, or both."""
    is_one = isinstance(value, dict) and value.keys() in _CALL
    return is_one and isinstance(value.get("args", []), list) and isinstance(value.get("kwargs", {}), dict)


def _call_in(text: str) -> Any:  # noqa: ANN401
    """The call that a text is as JSON; None where it is none."""
    if text[:1] != "{" or "args" not in text[:_CALL_BEGINS]:
        return None
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return value if _is_call(value) else None


def _text_in_call(call: dict[str, Any], names: Sequence[str], roles: frozenset[str], depth: int) -> str | None:
    """The text among the arguments of a call: with a known name, else the first by place, else the first by name."""
    by_name = call.get("kwargs", {})
    known = {name: by_name[name] for name in names if name in by_name}
    by_place = [one for one in call.get("args", []) if not (isinstance(one, str) and _OBJECT.fullmatch(one))]
    for one in ([known] if known else []) + by_place + [value for value in by_name.values() if isinstance(value, str)]:
        if found := _find_text(one, names, roles, depth + 1):
            return found
    return None


def _role_of(message: Any) -> str | None:  # noqa: ANN401
    """Who speaks in a message, in lower case; None for what is no message."""
    if isinstance(message, (list, tuple)) and len(message) == 2 and all(isinstance(one, str) for one in message):  # noqa: PLR2004
        return str(message[0]).lower()
    if not isinstance(message, dict):
        return None
    if isinstance(message.get("role"), str):
        return message["role"].lower()
    if isinstance(message.get("type"), str) and message["type"] in {"human", "ai", "system", "tool"}:
        return message["type"]
    kind = message.get("id")
    if isinstance(kind, list) and kind and isinstance(message.get("kwargs"), dict):  # as LangChain writes its objects
        return str(kind[-1]).removesuffix("Chunk").removesuffix("Message").lower()
    return None


def _content_of(message: Any) -> Any:  # noqa: ANN401
    if isinstance(message, (list, tuple)):
        return message[1]
    held = message["kwargs"] if isinstance(message.get("kwargs"), dict) else message
    return held.get("content") if "content" in held else held.get("parts")


# As many characters of a memory as tell it from others in a prompt.
_TELLING = 80
_IDS = ("id", "memory_id", "_id", "document_id")
_TEXTS = ("content", "memory", "text", "document", "page_content")
_SCORES = ("score", "similarity", "relevance", "relevance_score")


@dataclass(frozen=True)
class MemoryRecord:
    """A record of a memory or a document. `id` and `content` are '' where they were not captured."""

    id: str
    content: str
    score: float | None
    metadata: Any


def memory_record(found: Mapping[str, Any]) -> MemoryRecord:
    """A record under the names that stores give to its id, text and score."""
    content = next((found[name] for name in _TEXTS if found.get(name)), "")
    if isinstance(content, str) and content.startswith("{"):
        with suppress(orjson.JSONDecodeError):
            content = orjson.loads(content)
    if isinstance(content, dict):  # a store's own object around the text, or what is remembered as an object
        content = next((content[name] for name in _TEXTS if isinstance(content.get(name), str)), _json_text(content))
    id_ = next((found[name] for name in _IDS if isinstance(found.get(name), (str, int)) and found[name] != ""), "")
    return MemoryRecord(
        str(id_).strip(),
        content if isinstance(content, str) else "",
        next((score for name in _SCORES if (score := _score(found.get(name))) is not None), None),
        found.get("metadata"),
    )


def _json_text(content: Mapping[str, Any]) -> str:
    try:
        return orjson.dumps(content).decode() if content else ""
    except orjson.JSONEncodeError:  # which is how it says that lists lie in lists too deep
        return ""


def ids_in_text(records: Iterable[MemoryRecord], text: str) -> list[str] | None:
    """The ids of those records that stand in a text, but for case and white space; None where it is not known."""
    needles = {
        one.id: needle for one in records if (needle := _normal(one.content)[:_TELLING]) and not says_nothing(needle)
    }
    searched = _normal(text)
    if not needles or not searched:
        return None
    return [id_ for id_, needle in needles.items() if needle in searched]


def _normal(text: str) -> str:
    return " ".join(text.lower().split())


def _score(value: Any) -> float | None:  # noqa: ANN401
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


_PASSED = frozenset({"pass", "passed", "true", "correct"})
_FAILED = frozenset({"fail", "failed", "false", "incorrect"})
_KEYS = frozenset({"pass", "fail", "at_least", "at_most"})


@dataclass(frozen=True)
class EvaluationRule:
    """Labels that pass and fail (`fail` None: all others do), and the numbers from and up to which a value passes."""

    passes: frozenset[str] = frozenset()
    fails: frozenset[str] | None = None
    at_least: float | None = None
    at_most: float | None = None


def parse_rules(stated: Any) -> dict[str, EvaluationRule]:  # noqa: ANN401 - whatever settings.toml holds
    """The rules of a table from names to `{pass = […], fail = […], at_least = 0.7, at_most = 1.0}`, by lower-case name.

    Raises OptionsError saying which rule cannot be used, and why.
    """
    if not isinstance(stated, Mapping):
        message = "evaluations must be a table from names to rules"
        raise OptionsError(message)
    return {str(name).strip().lower(): _parse_rule(name, rule) for name, rule in stated.items()}


def is_success(rules: Mapping[str, EvaluationRule], name: str, label: str, value: float | None) -> bool | None:
    """Whether an evaluation passed; None where no rule can tell."""
    rule, said = rules.get(name.strip().lower(), EvaluationRule()), label.strip().lower()
    if said and (rule.passes or rule.fails):
        if said in rule.passes:
            return True
        if rule.fails is None or said in rule.fails:
            return False
    elif said in _PASSED | _FAILED:
        return said in _PASSED
    if value is not None and (rule.at_least is not None or rule.at_most is not None):
        return (rule.at_least is None or value >= rule.at_least) and (rule.at_most is None or value <= rule.at_most)
    return None


def _parse_rule(name: object, stated: Any) -> EvaluationRule:  # noqa: ANN401
    if not isinstance(stated, Mapping) or not stated or stated.keys() - _KEYS:
        message = f"the rule of {name!r} must have some of pass, fail, at_least and at_most, and nothing else"
        raise OptionsError(message)
    labels = {key: stated[key] for key in ("pass", "fail") if key in stated}
    bounds = {key: stated[key] for key in ("at_least", "at_most") if key in stated}
    for key, value in labels.items():
        if not isinstance(value, list) or not value or not all(isinstance(one, str) for one in value):
            message = f"{key} of {name!r} must be a list of labels"
            raise OptionsError(message)
    for key, value in bounds.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            message = f"{key} of {name!r} must be a number"
            raise OptionsError(message)
    by_key = {key: frozenset(one.strip().lower() for one in value) for key, value in labels.items()}
    return EvaluationRule(
        by_key.get("pass", frozenset()), by_key.get("fail"), bounds.get("at_least"), bounds.get("at_most")
    )


def shown_row(row: Mapping[str, Any]) -> str:
    """Return a record as text for the people who look at it, cut where it is long."""
    try:
        return orjson.dumps(row, default=str).decode()[:2000]
    except orjson.JSONEncodeError:
        return "(nested too deep to be shown)"


def every_text(value: Any, deepest: int, depth: int = 0) -> str:  # noqa: ANN401
    """Return all texts in a value, a line each, however it is nested, but not below `deepest`."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        value = [*value.values()]
    if not isinstance(value, list) or depth > deepest:
        return ""
    return "\n".join(text for one in value if (text := every_text(one, deepest, depth + 1)))
