"""The receiver's app: what is posted where, what is answered, and what it says of itself.

A connection that asks for something and then stays silent, or sends its headers for ever, is closed. An answer goes out
by one call of the system, not by one for its head and one for its body.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import zlib
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol

from slowwave.flows.capture import posts
from slowwave.flows.capture.committer import Committer, Spool
from slowwave.flows.capture.counts import ReceiverCounts
from slowwave.flows.capture.limits import BufferedBytes, FullError, Limits, Rates, is_addressed, is_of_other_site
from slowwave.flows.capture.posts import HttpAnswer, Post, Sender, Senders, Where, error_answer, later
from slowwave.flows.kernel.errors import UserError

# The body of a request, within bounds of size and time, unpacked.

_GZIP = 16 + zlib.MAX_WBITS
_AT_ONCE = 2**16
_BLOCK = 2**20
# Each costs what is unpacked of it and more: eight megabytes may be of 400,000 that hold nothing.
_MOST_MEMBERS = 10_000


class RefusedBodyError(Exception):
    """A body cannot be taken."""

    def __init__(self, answer: HttpAnswer) -> None:
        super().__init__(answer.status)
        self.answer = answer


@asynccontextmanager
async def unpacked_body(request: Request, limits: Limits, held: BufferedBytes) -> AsyncIterator[bytes]:
    """The body of a request, held as long as the context lasts. Raises RefusedBodyError."""
    coding = request.headers.get("content-encoding", "identity").strip().lower()
    if coding not in {"identity", "gzip", ""}:
        raise RefusedBodyError(error_answer(415, "send it as it is, or as gzip"))
    taken = _Taken(held)
    try:
        packed = await _body(request, limits, taken)
        if coding != "gzip":
            yield packed
        elif len(packed) < _AT_ONCE:
            yield _unpack_gzip(packed, limits.unpacked_bytes, taken)
        else:
            yield await asyncio.to_thread(_unpack_gzip, packed, limits.unpacked_bytes, taken)
    except FullError:
        raise RefusedBodyError(later("too much is being taken in right now", 1)) from None
    finally:
        held.release(taken.bytes)


class _Taken:
    """What one request holds."""

    def __init__(self, held: BufferedBytes) -> None:
        self._held = held
        self.bytes = 0

    def add(self, size: int) -> None:
        self._held.add(size)
        self.bytes += size


async def _body(request: Request, limits: Limits, taken: _Taken) -> bytes:
    too_large = RefusedBodyError(error_answer(413, f"a body may have {limits.body_bytes:,} bytes: post it in parts"))
    stated = request.headers.get("content-length", "")
    if stated.isdecimal() and int(stated) > limits.body_bytes:
        raise too_large
    body = bytearray()
    try:
        async with asyncio.timeout(limits.body_seconds):
            async for block in request.stream():
                if len(body) + len(block) > limits.body_bytes:
                    raise too_large
                taken.add(len(block))
                body += block
    except TimeoutError:
        slow = f"the body did not come whole within {limits.body_seconds:g} s"
        raise RefusedBodyError(error_answer(408, slow)) from None
    return bytes(body)


def _unpack_gzip(packed: bytes, most: int, taken: _Taken) -> bytes:
    """What gzip holds, which may be of several members, a block at a time: a bomb is dropped as soon as it is known."""
    out, rest, members = bytearray(), memoryview(packed), 0
    try:
        while rest:
            members += 1
            if members > _MOST_MEMBERS:
                raise RefusedBodyError(error_answer(400, f"the gzip is of more than {_MOST_MEMBERS:,} parts"))
            member = zlib.decompressobj(_GZIP)
            while not member.eof:
                given = rest[:_AT_ONCE]
                block = member.decompress(given, _BLOCK)
                left = member.unused_data if member.eof else member.unconsumed_tail
                rest = rest[len(given) - len(left) :]
                if len(out) + len(block) > most:
                    raise RefusedBodyError(
                        error_answer(413, f"a body may have {most:,} bytes unpacked: post it in parts")
                    )
                taken.add(len(block))
                out += block
                if not block and not rest and not member.eof:
                    raise RefusedBodyError(error_answer(400, "the gzip is cut short"))
    except zlib.error:
        raise RefusedBodyError(error_answer(400, "the body is no gzip")) from None
    return bytes(out)


# Answers by the key of their request: who posts the same again, or twice at once, is told the same.

_MOST = 10_000
_MOST_BYTES = 32 * 2**20
_LEAST_BYTES = 500
_GIVEN_UP = 500
OTHER_BODY = "the Idempotency-Key was used for another body: choose a new one"

Key = tuple[str, str, str]


@dataclass
class _Told:
    digest: bytes
    answer: asyncio.Future[HttpAnswer]
    size: int = 0


class PostAnswerCache:
    """The latest answers, for one event loop; none of those that ask to post again."""

    def __init__(self) -> None:
        self._told: OrderedDict[Key, _Told] = OrderedDict()
        self._bytes = 0

    async def answer(self, key: Key, body: bytes, ask: Callable[[], Awaitable[HttpAnswer]]) -> HttpAnswer:
        """What was, or is now, answered to this body under this key."""
        digest = hashlib.sha256(body).digest()
        told = self._told.get(key)
        if told is not None:
            if told.digest != digest:
                return error_answer(422, OTHER_BODY)
            self._told.move_to_end(key)
            return await asyncio.shield(told.answer)
        told = _Told(digest, asyncio.get_running_loop().create_future())
        self._told[key] = told
        try:
            answer = await ask()
        except BaseException:
            self._told.pop(key, None)
            told.answer.set_result(error_answer(503, "it was broken off: post it again"))
            raise
        told.answer.set_result(answer)
        if answer.status >= _GIVEN_UP:
            self._told.pop(key, None)
        else:
            told.size = len(answer.body) + _LEAST_BYTES
            self._bytes += told.size
            self._forget_oldest()
        return answer

    def _forget_oldest(self) -> None:
        while self._told and (len(self._told) > _MOST or self._bytes > _MOST_BYTES):
            key, told = next(iter(self._told.items()))
            if not told.answer.done():
                return
            del self._told[key]
            self._bytes -= told.size


_POSTED: dict[str, Where] = {
    "/interactions": "interactions",
    "/outcomes": "outcomes",
    "/memories": "memories",
    "/v1/traces": "traces",
    "/v1/logs": "logs",
}
_LONGEST_KEY = 255
_LEAST_FREE = 2**20


@dataclass(frozen=True)
class Receiver:
    """What the app answers with. `names`: those of this host."""

    senders: Senders
    committer: Committer
    spool: Spool
    counts: ReceiverCounts
    limits: Limits
    names: Collection[str]
    inbox: str

    def app(self) -> Starlette:
        """The app."""
        takes = _Takes(self)
        routes = [Route(path, takes.take_post, methods=["POST"]) for path in _POSTED]
        routes += [Route("/healthz", takes.health, methods=["GET"]), Route("/metrics", takes.metrics, methods=["GET"])]
        return Starlette(routes=routes, exception_handlers={404: _nowhere, 405: _otherwise})


async def _nowhere(_request: Request, _error: Exception) -> Response:
    return _as_json(error_answer(404, f"nothing is taken there: post to {', '.join(_POSTED)}"))


async def _otherwise(request: Request, error: Exception) -> Response:
    allowed = (error.headers or {}).get("Allow", "") if isinstance(error, HTTPException) else ""
    return _as_json(error_answer(405, f"{request.url.path} answers {allowed} alone"), Allow=allowed)


def _as_json(answer: HttpAnswer, **headers: str) -> Response:
    return Response(answer.body, answer.status, headers, answer.content_type)


class _Takes:
    """The endpoints."""

    def __init__(self, receiver: Receiver) -> None:
        self._is = receiver
        self._held = BufferedBytes(receiver.limits.held_bytes)
        self._rates = Rates(receiver.limits.rate)
        self._remembered = PostAnswerCache()

    async def take_post(self, request: Request) -> Response:
        """Take rows or telemetry; what is answered 200 is durable."""
        return await self._build_response(request, self._answer_post)

    async def metrics(self, request: Request) -> Response:
        """What was counted, for whoever may post."""
        return await self._build_response(request, self._metrics)

    async def health(self, request: Request) -> Response:
        """Whether posts can be kept now; it tells nothing else, and asks for no token."""
        return await self._build_response(request, self._health, asks_who=False)

    async def _build_response(
        self, request: Request, ask: Callable[[Request, Sender], Awaitable[HttpAnswer]], *, asks_who: bool = True
    ) -> Response:
        refused, sender = self._let_in(request, asks_who=asks_who)
        try:
            answer = refused or await ask(request, sender)
        except RefusedBodyError as error:
            answer = error.answer
        except ClientDisconnect:
            answer = error_answer(400, "the connection was closed")
        self._is.counts.count_answer(request.url.path, answer.status)
        return Response(answer.body, answer.status, dict(answer.headers), answer.content_type)

    def _let_in(self, request: Request, *, asks_who: bool) -> tuple[HttpAnswer | None, Sender]:
        """Why a request is not heard, else who sent it."""
        hosts = request.headers.getlist("host")
        if len(hosts) != 1 or not is_addressed(hosts[0], self._is.names):
            return error_answer(421, "this host is not called so: name it with --allow-host"), Sender()
        if is_of_other_site(request.headers):
            return error_answer(403, "pages of other sites may not post here"), Sender()
        if not asks_who:
            return None, Sender()
        try:
            sender = self._is.senders.sender(request.headers.get("authorization"))
        except UserError:
            return later("who may post cannot be read here: see `slowwave token list`", 60), Sender()
        if sender is None:
            unknown = HttpAnswer(
                401, error_answer(401, "a valid token is needed").body, headers={"WWW-Authenticate": "Bearer"}
            )
            return unknown, Sender()
        return (later("too many requests", 1, 429) if self._rates.is_too_fast(sender.name) else None), sender

    async def _answer_post(self, request: Request, sender: Sender) -> HttpAnswer:
        where = _POSTED[request.url.path]
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        is_protobuf = kind == posts.PROTOBUF
        if is_protobuf and (where not in {"traces", "logs"} or not posts.can_read_protobuf()):
            return error_answer(415, posts.NEEDED if where in {"traces", "logs"} else "post JSON")
        key = request.headers.get("idempotency-key", "").strip()
        if len(key) > _LONGEST_KEY:
            return error_answer(400, f"an Idempotency-Key has at most {_LONGEST_KEY} characters")
        async with unpacked_body(request, self._is.limits, self._held) as body:
            loop = asyncio.get_running_loop()

            async def ask() -> HttpAnswer:
                answered: asyncio.Future[HttpAnswer] = loop.create_future()

                def tell(answer: HttpAnswer) -> None:
                    with suppress(RuntimeError):  # the loop has ended: nobody waits any more
                        loop.call_soon_threadsafe(lambda: None if answered.done() else answered.set_result(answer))

                self._is.committer.put(Post(where, body, is_protobuf, sender, key, tell))
                return await answered

            if not key:
                return await ask()
            return await self._remembered.answer((sender.name, where, key), body, ask)

    async def _metrics(self, _request: Request, _sender: Sender) -> HttpAnswer:
        text = self._is.counts.text(self._is.spool.waiting(), self._held.bytes)
        return HttpAnswer(200, text.encode(), "text/plain; version=0.0.4; charset=utf-8")

    async def _health(self, _request: Request, _sender: Sender) -> HttpAnswer:
        try:
            free = os.statvfs(self._is.inbox)
            is_well = free.f_bavail * free.f_frsize >= _LEAST_FREE and os.access(self._is.inbox, os.W_OK)
        except OSError:
            is_well = False
        if is_well and self._is.committer.is_alive:
            return HttpAnswer(200, b'{"status":"ok"}')
        return later("nothing can be kept here now")


def patient_for(seconds: float) -> type[H11Protocol]:
    """The protocol of connections that must have sent the headers of a request within so many seconds."""

    class Impatient(H11Protocol):
        """HTTP/1.1 by h11, which itself waits for ever."""

        _waiting: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:  # noqa: ANN401 - as uvicorn has it
            super().connection_made(_Gathering(transport, self.loop))  # type: ignore[arg-type] - all that is asked of it
            self._wait()

        def handle_events(self) -> None:
            before = self.cycle
            super().handle_events()
            if self.cycle is not before:
                self._stop_waiting()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            if not self.transport.is_closing() and self.cycle.response_complete:
                self._wait()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_waiting()
            super().connection_lost(exc)

        def _wait(self) -> None:
            self._stop_waiting()
            self._waiting = self.loop.call_later(seconds, self.transport.close)

        def _stop_waiting(self) -> None:
            if self._waiting is not None:
                self._waiting.cancel()
                self._waiting = None

    return Impatient


class _Gathering:
    """A transport that sends what is written to it in one turn of the loop together, at the next."""

    def __init__(self, transport: Any, loop: asyncio.AbstractEventLoop) -> None:  # noqa: ANN401 - as uvicorn has it
        self._transport = transport
        self._loop = loop
        self._written: list[bytes] = []

    def write(self, data: bytes) -> None:
        """Send it with the next turn."""
        if not self._written:
            self._loop.call_soon(self._send)
        self._written.append(data)

    def close(self) -> None:
        """Close it, once all that was written is sent."""
        self._send()
        self._transport.close()

    def _send(self) -> None:
        if self._written:
            data = b"".join(self._written)
            self._written.clear()
            self._transport.write(data)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - all else as the transport has it
        return getattr(self._transport, name)
