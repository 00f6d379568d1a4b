"""What an answer of a language model comes down to, whatever it says: a listed action on a memory that was shown.

Everything else becomes the answer that changes nothing (add a fact, create), and what was not taken is reported.
"""

from __future__ import annotations

import json
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from slowwave.transforms.llm.params import LlmParams
from slowwave.transforms.llm.prompts import Prompt, Task, shorten_text
from slowwave.transforms.observations.tables import Action, CurationKind

NO_TARGET = "none"
_LONGEST_ANSWER = 20_000
_SHOWN_OF_REFUSED = 40
_SECRET = "[key]"  # noqa: S105 - what stands in place of one


class UnreadableAnswerError(ValueError):
    """An answer that is not one JSON object: broken off, or prose."""


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")


class CurationAnswer(_Closed):
    """What `curate/llm-1` asks for."""

    action: Action
    kind: CurationKind
    target: str
    reason: str


class ObservationAction(_Closed):
    """One action of `observe/llm-1`."""

    action: Literal["create", "update", "delete"]
    target: str
    reason: str


class ObservationAnswer(_Closed):
    """What `observe/llm-1` asks for."""

    actions: list[ObservationAction]


ANSWERS: dict[Task, type[BaseModel]] = {"curate": CurationAnswer, "observe": ObservationAnswer}
_RELATIONS = {"update": "same_fact", "delete": "supersedes"}


def answer_schema(prompt: Prompt) -> dict[str, Any]:
    """JSON Schema of the answer to one prompt, self-contained; `target` can be nothing but a label shown."""
    schema = ANSWERS[prompt.task].model_json_schema()
    definitions = schema.pop("$defs", {})
    labels = [NO_TARGET, *map(str, range(1, prompt.shown_count + 1))]

    def plain(part: Any) -> Any:  # noqa: ANN401 - a part of a schema
        if isinstance(part, list):
            return [plain(item) for item in part]
        if not isinstance(part, dict):
            return part
        if "$ref" in part:
            return plain(definitions[part["$ref"].rpartition("/")[2]])
        return {
            name: {"type": "string", "enum": labels} if name == "target" else plain(value)
            for name, value in part.items()
            if name not in {"title", "description"}
        }

    return plain(schema)


def answer_values(prompt: Prompt, text: str, params: LlmParams, secret: str = "") -> dict[str, Any]:
    """The values that are landed for an answer: safe whatever `text` says, and without `secret`.

    Of `curate`: action, kind, target (label or None), reason, refused. Of `observe`: related (a list of label,
    relation, reason), refused. `refused` tells in words what was not taken.

    Raises UnreadableAnswerError when `text` is not one JSON object.
    """
    said = _json_object(text)
    if prompt.task == "curate":
        return _read_curation_answer(prompt, said, params, secret)
    return _read_observation_answer(prompt, said, params, secret)


def _json_object(text: str) -> dict[str, Any]:
    bare = text[text.find("{") : text.rfind("}") + 1]  # small models fence their answers, or talk around them
    if len(bare) > _LONGEST_ANSWER:
        message = f"the answer has {len(bare):,} characters"
        raise UnreadableAnswerError(message)
    try:
        said = json.loads(bare)
    except (ValueError, RecursionError) as error:
        message = "the answer is no JSON"
        raise UnreadableAnswerError(message) from error
    return said


def _read_curation_answer(prompt: Prompt, said: dict[str, Any], params: LlmParams, secret: str) -> dict[str, Any]:
    safe = {"action": "add", "kind": "fact", "target": None, "reason": ""}
    try:
        answer = CurationAnswer.model_validate(said)
    except ValidationError as error:
        return {**safe, "refused": _describe_errors(error)}
    kept = {"kind": answer.kind, "reason": _reason(answer.reason, params, secret)}
    if answer.action == "add":
        return {**safe, **kept, "refused": []}
    target = _label(answer.target, prompt)
    if target is None:
        return {
            **safe,
            **kept,
            "refused": [f"{answer.action} of {_quote_text(answer.target, secret)}, which was not shown"],
        }
    return {**kept, "action": answer.action, "target": target, "refused": []}


def _read_observation_answer(prompt: Prompt, said: dict[str, Any], params: LlmParams, secret: str) -> dict[str, Any]:
    try:
        answer = ObservationAnswer.model_validate(said)
    except ValidationError as error:
        return {"related": [], "refused": _describe_errors(error)}
    if len(answer.actions) > params.max_actions:
        return {"related": [], "refused": [f"{len(answer.actions)} actions, more than {params.max_actions}"]}
    related: dict[int, dict[str, Any]] = {}
    refused: list[str] = []
    for one in answer.actions:
        relation = _RELATIONS.get(one.action)
        if relation is None:
            continue
        label = _label(one.target, prompt)
        if label is None:
            refused.append(f"{one.action} of {_quote_text(one.target, secret)}, which was not shown")
        elif label in related and related[label]["relation"] != relation:
            return {"related": [], "refused": [f"update and delete of {_quote_text(one.target, secret)}"]}
        else:
            related[label] = {"label": label, "relation": relation, "reason": _reason(one.reason, params, secret)}
    return {"related": [related[label] for label in sorted(related)], "refused": refused}


def _label(target: str, prompt: Prompt) -> int | None:
    labels = {str(label): label for label in range(1, prompt.shown_count + 1)}
    return labels.get(target.strip())


def _reason(text: str, params: LlmParams, secret: str) -> str:
    return shorten_text(_without(secret, text).strip(), params.max_reason)


def _quote_text(text: str, secret: str) -> str:
    return repr(shorten_text(_without(secret, text), _SHOWN_OF_REFUSED))


def _without(secret: str, text: str) -> str:
    said = _encodable(text)
    return said.replace(secret, _SECRET) if secret else said


def _encodable(text: str) -> str:
    """JSON may say half a surrogate pair or a NUL, which no table can hold."""
    return text.encode("utf-8", "replace").decode().replace("\0", "")


def _describe_errors(error: ValidationError) -> list[str]:
    """What is wrong with an answer, without its own words where they are no field of ours."""
    known = {*get_args(Action), *CurationAnswer.model_fields, *ObservationAnswer.model_fields}
    found = []
    for fault in error.errors(include_url=False, include_context=False, include_input=False)[:3]:
        where = ".".join(str(part) for part in fault["loc"] if isinstance(part, int) or part in known)
        found.append(f"{where or 'an unknown field'}: {fault['msg']}")
    return found
