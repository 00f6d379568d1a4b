"""One request to an OpenAI-compatible server, and what can become of it. The key is sent there and nowhere else.

The environment names the server and the key.
"""

from __future__ import annotations

import asyncio
import email.utils
import importlib.util
import ipaddress
import logging
import os
import re
import time
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urlsplit

from pydantic import BaseModel, ValidationError

from slowwave.flows.kernel.errors import UserError
from slowwave.transforms.llm.model_answers import UnreadableAnswerError, answer_schema, answer_values
from slowwave.transforms.llm.params import LlmParams
from slowwave.transforms.llm.prompts import Prompt

if TYPE_CHECKING:
    from httpx2 import Response
    from openai import AsyncOpenAI

# Many local servers want no key, but the client wants one.
_NO_KEY = "none"
_MOST_OF_HOST = 253
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?", re.IGNORECASE)


@dataclass(frozen=True)
class Endpoint:
    """Where a model is asked."""

    url: str
    key: str = field(default="", repr=False)

    @property
    def host(self) -> str:
        """Its host and port: all of the URL that is ever shown, for its path may hold a secret."""
        return urlsplit(self.url).netloc

    @property
    def sent_key(self) -> str:
        """What is sent as the key; a word in its place where there is none."""
        return self.key or _NO_KEY


def endpoint_from_environment() -> Endpoint | None:
    """$SLOWWAVE_LLM_URL with $SLOWWAVE_LLM_KEY; None where no URL is set.

    Raises UserError when one of them cannot be used; the message holds neither.
    """
    url = os.environ.get("SLOWWAVE_LLM_URL", "").strip()
    if not url:
        return None
    _check_url(url)
    key = os.environ.get("SLOWWAVE_LLM_KEY", "").strip()
    if not _is_plain(key):
        message = "SLOWWAVE_LLM_KEY holds characters that no key has: only printable ASCII can be sent"
        raise UserError(message)
    return Endpoint(url, key)


def _check_url(url: str) -> None:
    if not _is_plain(url) or " " in url or not (parts := _http_parts(url)):
        message = "SLOWWAVE_LLM_URL is no http(s) URL, such as http://localhost:8080/v1"
        raise UserError(message)
    if "@" in parts.netloc:
        message = "SLOWWAVE_LLM_URL holds a user or a password: set SLOWWAVE_LLM_KEY in their place"
        raise UserError(message)
    if "?" in url or "#" in url:
        message = "SLOWWAVE_LLM_URL ends in a query or a fragment: leave out what begins with ? or #"
        raise UserError(message)


def _http_parts(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        is_usable = parts.scheme in {"http", "https"} and parts.port != 0 and _is_host(parts.hostname or "")
    except ValueError:  # a port or an address that is none
        return None
    return parts if is_usable else None


def _is_host(host: str) -> bool:
    if ":" in host or host.replace(".", "").isdigit():
        ipaddress.ip_address(host)
        return True
    labels = host.removesuffix(".").split(".")
    return len(host) <= _MOST_OF_HOST and all(_LABEL.fullmatch(label) for label in labels)


def _is_plain(text: str) -> bool:
    return text.isascii() and text.isprintable()


_LARGEST_BODY = 2**20
_REPEATABLE = frozenset({408, 409, 425, 429})
_MISCONFIGURED = {
    401: "check SLOWWAVE_LLM_KEY",
    403: "check SLOWWAVE_LLM_KEY",
    404: "check SLOWWAVE_LLM_URL and the model",
}
_ELSEWHERE = range(300, 400)
_NOT_UNDERSTOOD = frozenset({400, 422})
_MOST_TOKENS = 10**9


def check_installed() -> None:
    """Raises UserError when the client library is not installed."""
    if importlib.util.find_spec("openai") is None:
        needs = "asking a language model needs one more package"
        message = f"{needs}, the extra `llm` of this checkout: .venv/bin/pip install '.[llm]'"
        raise UserError(message)


class LlmError(Exception):
    """A question without an answer; the message says why and holds nothing that a server said."""

    def __init__(
        self,
        message: str,
        *,
        is_repeatable: bool = False,
        is_of_endpoint: bool = True,
        is_timeout: bool = False,
        ends_asking: bool = False,
        retry_after: float = 0.0,
    ) -> None:
        super().__init__(message)
        self.is_repeatable = is_repeatable
        self.is_of_endpoint = is_of_endpoint
        self.is_timeout = is_timeout
        self.ends_asking = ends_asking
        self.retry_after = retry_after


class NotUnderstoodError(LlmError):
    """The server refused the request itself: it may lack an option that others have."""


def unexpected_error(error: Exception) -> LlmError:
    """What nobody foresaw, by the name of its type alone: its message may hold what was sent, the key too."""
    return LlmError(f"the client failed: {type(error).__name__}")


class _Usage(BaseModel):
    total_tokens: int | None = None


class _Message(BaseModel):
    content: str | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Completion(BaseModel):
    choices: list[_Choice]
    usage: _Usage | None = None


@dataclass(frozen=True)
class LlmAnswer:
    """An answer reduced to what may be landed, and the tokens it cost."""

    values: dict[str, Any]
    tokens: int


class LlmClient:
    """A server as one night uses it: `answer` sends one request and reads its answer."""

    def __init__(self, endpoint: Endpoint, params: LlmParams) -> None:
        self._endpoint = endpoint
        self._params = params
        self._dialect = 0
        self._is_dialect_known = False
        self._openai: AsyncOpenAI | None = None

    async def __aenter__(self) -> LlmClient:
        """Raises LlmError when no client can be made, as with a proxy in the environment that is none."""
        try:
            self._openai = self._make_openai()
        except Exception as error:  # noqa: BLE001 - the night goes on whatever it is
            raise unexpected_error(error) from None
        return self

    async def __aexit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        if self._openai is not None:
            with suppress(Exception):  # every answer has been read
                await self._openai.close()

    def _make_openai(self) -> AsyncOpenAI:
        import httpx2
        from openai import AsyncOpenAI, Omit, Timeout  # takes a second to load, and most nights need it not

        for name in ("httpcore", "httpcore2", "httpx", "httpx2", "openai"):
            logging.getLogger(name).setLevel(logging.WARNING)  # a line per request says more than a screen holds
        seconds = self._params.timeout_seconds
        # a prompt goes to the server that is named and is not sent on to where it points
        http = httpx2.AsyncClient(follow_redirects=False, event_hooks={"response": [_check_head]})
        # else the client adds what its own environment variables say of somebody's account elsewhere
        unsaid = dict.fromkeys(("OpenAI-Organization", "OpenAI-Project"), Omit())
        return AsyncOpenAI(
            api_key=self._endpoint.sent_key,
            base_url=self._endpoint.url,
            max_retries=0,  # repeats are counted against the budget, so they are made where it is kept
            default_headers={**unsaid, "Accept-Encoding": "identity"},  # pyright: ignore[reportArgumentType]
            timeout=Timeout(seconds, connect=min(seconds, 10.0)),
            http_client=http,
        )

    @property
    def has_other_dialect(self) -> bool:
        """Whether a request that was not understood can be put in another way; then the next one is."""
        if self._is_dialect_known or self._dialect + 1 >= len(_DIALECTS):
            return False
        self._dialect += 1
        return True

    async def answer(self, prompt: Prompt) -> LlmAnswer:
        """The answer to a prompt. Raises LlmError when there is none; anything else was not foreseen."""
        import httpx2  # below the client: raises what breaks off while an answer is read
        import openai

        try:
            async with asyncio.timeout(self._params.timeout_seconds):
                body = await self._body(prompt)
        except (TimeoutError, openai.APITimeoutError):
            message = f"no answer within {self._params.timeout_seconds:g} s"
            raise LlmError(message, is_repeatable=True, is_timeout=True) from None
        except (openai.OpenAIError, httpx2.HTTPError):
            message = "no connection, or it broke off"
            raise LlmError(message, is_repeatable=True) from None
        self._is_dialect_known = True
        return self._read_answer(prompt, body)

    async def _body(self, prompt: Prompt) -> bytes:
        if self._openai is None:
            message = "a client is used inside `async with`"
            raise RuntimeError(message)
        streaming = self._openai.chat.completions.with_streaming_response
        async with streaming.create(
            model=self._params.model,
            messages=[{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}],
            **_DIALECTS[self._dialect](prompt, self._params),
        ) as response:
            body = b""
            async for chunk in response.iter_bytes():
                body += chunk
                if len(body) > _LARGEST_BODY:
                    message = f"the answer is larger than {_LARGEST_BODY // 2**10} kB"
                    raise LlmError(message, is_of_endpoint=False)
            return body

    def _read_answer(self, prompt: Prompt, body: bytes) -> LlmAnswer:
        try:
            completion = _Completion.model_validate_json(body)
        except ValidationError:
            message = "the answer is no chat completion"
            raise LlmError(message, is_repeatable=True, is_of_endpoint=False) from None
        choice = completion.choices[0] if completion.choices else None
        text = (choice and choice.message.content) or ""
        if choice is None or choice.finish_reason == "length":
            message = f"the answer was cut at {self._params.answer_tokens} tokens" if choice else "the answer is empty"
            raise LlmError(message, is_repeatable=True, is_of_endpoint=False)
        try:
            values = answer_values(prompt, text, self._params, self._endpoint.key)
        except UnreadableAnswerError as error:
            raise LlmError(str(error), is_repeatable=True, is_of_endpoint=False) from None
        used = completion.usage.total_tokens if completion.usage else None
        if used is None or not 0 < used < _MOST_TOKENS:
            used = prompt.tokens + len(text.encode()) // 3
        return LlmAnswer(values, used)


def _response_format(prompt: Prompt) -> dict[str, Any]:
    schema = {"name": prompt.task, "schema": answer_schema(prompt), "strict": True}
    return {"type": "json_schema", "json_schema": schema}


# From what most servers understand to what every one does; the prompt itself says what an answer looks like.
_DIALECTS = (
    lambda prompt, params: {
        "response_format": _response_format(prompt),
        "max_tokens": params.answer_tokens,
        "temperature": 0,
    },
    lambda prompt, params: {
        "response_format": _response_format(prompt),
        "max_completion_tokens": params.answer_tokens,
    },
    lambda _prompt, params: {"max_tokens": params.answer_tokens},
)


async def _check_head(response: Response) -> None:
    """Raises LlmError before anything is read of a body that is no answer, or that may be larger than what is sent."""
    if not response.is_success:
        raise _of_status(response.status_code, _retry_after(response.headers))
    if response.headers.get("content-encoding", "identity").strip().lower() != "identity":
        message = "the answer is compressed, which was not asked for"
        raise LlmError(message, ends_asking=True)


def _of_status(status: int, retry_after: float) -> LlmError:
    if status in _NOT_UNDERSTOOD:
        return NotUnderstoodError(f"HTTP {status}: the server does not take the request", is_of_endpoint=False)
    hint = "check SLOWWAVE_LLM_URL" if status in _ELSEWHERE else _MISCONFIGURED.get(status)
    if hint:
        return LlmError(f"HTTP {status}: {hint}", ends_asking=True)
    is_repeatable = status in _REPEATABLE or status >= 500  # noqa: PLR2004 - the server's own faults
    return LlmError(f"HTTP {status}", is_repeatable=is_repeatable, retry_after=retry_after)


def _retry_after(headers: Any) -> float:  # noqa: ANN401 - headers of the client's HTTP library
    """Seconds that the server asks us to wait; 0 where it does not say."""
    text = headers.get("retry-after", "")
    with suppress(ValueError):
        return max(0.0, float(text))
    with suppress(ValueError, TypeError):
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time())
    return 0.0
