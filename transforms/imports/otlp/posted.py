"""OTLP as it is taken in over the network: the project of its sender in it, and no secrets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from slowwave.transforms.imports.otlp.parts import SENDERS_PROJECT, why_not_otlp
from slowwave.transforms.imports.secrets import clean_record

Signal = Literal["traces", "logs"]
_NAMED = "openinference.project.name"
_PLACES: dict[Signal, tuple[str, str, str]] = {
    "traces": ("resourceSpans", "scopeSpans", "spans"),
    "logs": ("resourceLogs", "scopeLogs", "logRecords"),
}


def why_not_taken(document: object, signal: Signal) -> str:
    """Why a document is no OTLP JSON of that signal; '' where it is."""
    name = _PLACES[signal][0]
    if not isinstance(document, dict) or not isinstance(document.get(name, []), list):
        return f"it is no OTLP JSON of {signal}: it has no list {name}"
    other: Signal = "logs" if signal == "traces" else "traces"
    if document.get(_PLACES[other][0]):
        return f"it has {other}, which go to /v1/{other}"
    wrong = why_not_otlp(document)
    return f"it {wrong}" if wrong else ""


def kept_document(document: Mapping[str, Any], signal: Signal, project: str | None) -> tuple[dict[str, Any], int]:
    """The document as it is kept, and how many spans or log records are not in it: they name another project.

    `project`: of the sender; None where it may name any.
    """
    name, scopes, items = _PLACES[signal]
    kept: list[dict[str, Any]] = []
    refused = 0
    for held in document.get(name, []):
        if not isinstance(held, dict):
            continue
        if project is None or _names(held) in (None, project):
            kept.append(held)
        else:
            refused += sum(len(one) for one in _lists(held.get(scopes), items))
    cleaned = clean_record({name: kept})
    return {name: [_of_project(held, project) for held in cleaned[name]]}, refused


def _lists(scopes: object, items: str) -> Iterator[list[Any]]:
    for scope in scopes if isinstance(scopes, list) else ():
        found = scope.get(items) if isinstance(scope, dict) else None
        if isinstance(found, list):
            yield found


def _attributes(held: Mapping[str, Any]) -> list[Any]:
    resource = held.get("resource")
    found = resource.get("attributes") if isinstance(resource, dict) else None
    return found if isinstance(found, list) else []


def _names(held: Mapping[str, Any]) -> object:
    """The project that a resource names on purpose; None where it names none."""
    for pair in _attributes(held):
        if isinstance(pair, dict) and pair.get("key") == _NAMED:
            value = pair.get("value")
            return value.get("stringValue", "") if isinstance(value, dict) else ""
    return None


def _of_project(held: dict[str, Any], project: str | None) -> dict[str, Any]:
    """With the sender's project; without what only a receiver may say."""
    pairs = [one for one in _attributes(held) if not (isinstance(one, dict) and one.get("key") == SENDERS_PROJECT)]
    if project is not None:
        pairs.append({"key": SENDERS_PROJECT, "value": {"stringValue": project}})
    resource = held.get("resource")
    return {**held, "resource": {**(resource if isinstance(resource, dict) else {}), "attributes": pairs}}
