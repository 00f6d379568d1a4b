"""Connections that ask for something: one that stays silent, or sends its headers for ever, is closed."""

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
            super().connection_made(transport)
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
