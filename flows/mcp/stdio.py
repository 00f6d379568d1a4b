"""One client over standard input and output: what it asked is answered even where it has said all it had to say."""

from __future__ import annotations

import io
import sys
from collections.abc import AsyncIterator

import anyio
import anyio.to_thread
from mcp.server.mcpserver import MCPServer
from mcp.server.stdio import stdio_server
from mcp.shared._context_streams import create_context_streams
from mcp.shared.message import SessionMessage
from mcp_types import (
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from slowwave.flows.mcp.current_publish import SECONDS

MOST_WAITING = 1_000
"""Requests without an answer; with so many, no further line is read."""
LONGEST_LINE = 2**20
"""Bytes of a line; what is longer is not kept in memory."""
_LOOK_SECONDS = 0.02
_CANCELLED = "notifications/cancelled"
_NO_MESSAGE = "this line is no message of JSON-RPC 2.0: one line holds one whole message, and no other line break"
_TOO_LONG = f"this line is longer than {LONGEST_LINE:,} bytes, and was not read: ask for less at once"


async def serve_stdio(server: MCPServer) -> None:
    """Answer until standard input ends and what was asked before is answered.

    While it serves, standard output holds the protocol alone: what anything else writes there goes to standard error.
    """
    waiting: set[object] = set()
    # what the client says is read here: the server of the package reads a line however long it is
    nothing = anyio.wrap_file(io.StringIO())
    async with stdio_server(stdin=nothing) as (lines, answers), lines, answers:
        to_server, from_client = create_context_streams[SessionMessage | Exception](0)
        to_client, from_server = create_context_streams[SessionMessage](0)

        async def inwards() -> None:
            async with to_server:
                async for message in _messages():
                    if isinstance(message, str):
                        refusal = JSONRPCError(
                            jsonrpc="2.0", id=None, error=ErrorData(code=PARSE_ERROR, message=message)
                        )
                        await answers.send(SessionMessage(refusal))
                        continue
                    if isinstance(message, JSONRPCRequest):
                        while len(waiting) >= MOST_WAITING:
                            await anyio.sleep(_LOOK_SECONDS)
                        waiting.add(message.id)
                    else:
                        waiting.discard(_given_up(message))
                    await to_server.send(SessionMessage(message))
                with anyio.move_on_after(2 * SECONDS):
                    while waiting:
                        await anyio.sleep(_LOOK_SECONDS)

        async def outwards() -> None:
            async for answer in from_server:
                await answers.send(answer)
                waiting.discard(getattr(answer.message, "id", None))

        async with from_client, from_server, to_client, anyio.create_task_group() as relays:
            relays.start_soon(inwards)
            relays.start_soon(outwards)
            running = server._lowlevel_server  # noqa: SLF001 - MCPServer runs over streams of its own only
            await running.run(from_client, to_client, running.create_initialization_options())
            relays.cancel_scope.cancel()


def _given_up(message: JSONRPCMessage) -> str | int | None:
    """The id of a request that needs no answer any more; None where a message names none, whatever else it names."""
    if not isinstance(message, JSONRPCNotification) or message.method != _CANCELLED:
        return None
    named = (message.params or {}).get("requestId")
    return named if isinstance(named, str | int) else None


async def _messages() -> AsyncIterator[JSONRPCMessage | str]:
    """What the client says, line by line: a message, or why a line is none."""
    while line := await anyio.to_thread.run_sync(sys.stdin.buffer.readline, LONGEST_LINE + 1):
        if len(line) > LONGEST_LINE:
            while line and not line.endswith(b"\n"):
                line = await anyio.to_thread.run_sync(sys.stdin.buffer.readline, LONGEST_LINE)
            yield _TOO_LONG
            continue
        try:
            yield jsonrpc_message_adapter.validate_json(line.decode("utf-8", "replace"), by_name=False)
        except ValidationError:
            yield _NO_MESSAGE
