"""What was posted, by whom, and what is answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import orjson

from slowwave.flows.kernel.access.bearer_tokens import Tokens
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.land.readings import command_readings
from slowwave.transforms.landing.mapping.rules import ReadingOptions

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


# Who posts, and how the rows of each are read.


class Senders:
    """The senders of a home; `must_have_token`: also where there never was a token."""

    def __init__(self, settings: Settings, *, must_have_token: bool) -> None:
        self._settings = settings
        self._tokens = Tokens(settings)
        self._must_have_token = must_have_token
        self._readings: dict[str, tuple[tuple[float, ...], ReadingOptions]] = {}

    def sender(self, authorization: str | None) -> Sender | None:
        """Who sends an `Authorization` header; None where nobody may who does. Raises UserError as `Tokens`."""
        token = self._tokens.verify_token(authorization, "capture")
        if token is not None:
            return Sender(token.name, token.project, token.mapping)
        return None if self._must_have_token or self._tokens.are_asked_for() else Sender()

    def reading(self, sender: Sender) -> ReadingOptions:
        """How a sender's rows are read. Raises UserError where its mapping, or `settings.toml`, cannot be used."""
        files = [self._settings.settings_file]
        if sender.mapping:
            files.append(self._settings.mappings / f"{sender.mapping}.toml")
        stamp = tuple(file.stat().st_mtime if file.exists() else 0.0 for file in files)
        known = self._readings.get(sender.mapping)
        if known is None or known[0] != stamp:
            readings = command_readings(self._settings, [], sender.mapping or None, as_is=False)
            mapping = readings.chosen
            if mapping is not None and (mapping.explode or mapping.where):
                message = (
                    f"the mapping {sender.mapping} has explode or where: posted rows are taken one by one, as they are"
                )
                raise UserError(message)
            keeps = readings.keeps_unknown or (mapping is not None and mapping.keeps_unknown)
            known = self._readings[sender.mapping] = stamp, ReadingOptions(mapping, keeps)
        return known[1]
