"""The body of a request, within bounds of size and time, unpacked."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from slowwave.flows.capture.limits import BufferedBytes, FullError, Limits
from slowwave.flows.capture.posts import HttpAnswer, error_answer, later

if TYPE_CHECKING:
    from starlette.requests import Request

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
