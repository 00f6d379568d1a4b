"""One client over standard input and output: what it asked is answered even where it has said all it had to say."""

from __future__ import annotations

import anyio
from mcp.server.mcpserver import MCPServer
from mcp.server.stdio import stdio_server
from mcp.shared._context_streams import create_context_streams
from mcp.shared.message import SessionMessage
from mcp_types import PARSE_ERROR, ErrorData, JSONRPCError, JSONRPCNotification, JSONRPCRequest

from slowwave.flows.mcp.published import SECONDS

MOST_WAITING = 1_000
"""Requests without an answer; with so many, no further line is read."""
_LOOK_SECONDS = 0.02
_CANCELLED = "notifications/cancelled"
_NO_MESSAGE = "this line is no message of JSON-RPC 2.0: one line holds one whole message, and no other line break"


async def serve_stdio(server: MCPServer) -> None:
    """Answer until standard input ends and what was asked before is answered.

    While it serves, standard output holds the protocol alone: what anything else writes there goes to standard error.
    """
    waiting: set[object] = set()
    async with stdio_server() as (lines, answers), lines, answers:
        to_server, from_client = create_context_streams[SessionMessage | Exception](0)
        to_client, from_server = create_context_streams[SessionMessage](0)

        async def inwards() -> None:
            async with to_server:
                async for line in lines:
                    if isinstance(line, Exception):
                        refusal = JSONRPCError(
                            jsonrpc="2.0", id=None, error=ErrorData(code=PARSE_ERROR, message=_NO_MESSAGE)
                        )
                        await answers.send(SessionMessage(refusal))
                        continue
                    message = line.message
                    if isinstance(message, JSONRPCRequest):
                        while len(waiting) >= MOST_WAITING:
                            await anyio.sleep(_LOOK_SECONDS)
                        waiting.add(message.id)
                    elif isinstance(message, JSONRPCNotification) and message.method == _CANCELLED:
                        waiting.discard((message.params or {}).get("requestId"))
                    await to_server.send(line)
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
