"""Answers by the key of their request: who posts the same again, or twice at once, is told the same."""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from slowwave.flows.capture.posts import HttpAnswer, error_answer

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
