"""Where the receiver, and the server of agents' questions, listen: what they answer in two writes goes out at once."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest

from slowwave.flows.capture.capture import Listening, _socket
from slowwave.flows.mcp.http import _listening


@pytest.mark.parametrize("listening", [lambda: _socket(Listening()), lambda: _listening(0)])
def test_no_answer_waits_for_what_it_is_acknowledged_by(
    listening: Callable[[], AbstractContextManager[socket.socket]],
):
    async def delays(listener: socket.socket) -> int:
        found: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        async def accepted(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            found.set_result(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        async with await asyncio.start_server(accepted, sock=listener):
            _, writer = await asyncio.open_connection(*listener.getsockname())
            no_delay = await found
            writer.close()
        return no_delay

    with listening() as listener:
        assert asyncio.run(delays(listener)) == 1
