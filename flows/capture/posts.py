"""What was posted, by whom, and what is answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import orjson

Where = Literal["interactions", "outcomes", "memories", "traces", "logs"]
_RETRY_SECONDS = 5


@dataclass(frozen=True)
class Sender:
    """Who posts: the name of the token, its project (None: any) and its mapping; nobody in particular without one."""

    name: str = ""
    project: str | None = None
    mapping: str = ""


@dataclass(frozen=True)
class HttpAnswer:
    """What is answered."""

    status: int
    body: bytes
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Post:
    """A body that came whole. `key`: the sender's for this request, '' for none; `answered` is told from any thread."""

    where: Where
    body: bytes
    is_protobuf: bool
    sender: Sender
    key: str
    answered: Callable[[HttpAnswer], None]


def error_answer(status: int, reason: str, **more: Any) -> HttpAnswer:  # noqa: ANN401 - JSON
    """An answer that says what is wrong."""
    return HttpAnswer(status, orjson.dumps({"error": reason, **more}))


def later(reason: str, seconds: int = _RETRY_SECONDS, status: int = 503) -> HttpAnswer:
    """An answer to post it again after some seconds: nothing of it was kept."""
    return HttpAnswer(status, orjson.dumps({"error": reason}), headers={"Retry-After": str(seconds)})
