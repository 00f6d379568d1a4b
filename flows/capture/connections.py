"""Connections that ask for something: one that stays silent, or sends its headers for ever, is closed.

An answer goes out by one call of the system, not by one for its head and one for its body.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol


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
