"""`slowwave mcp`: agents ask over standard input and output, where the protocol alone is spoken, or over HTTP."""

from __future__ import annotations

from functools import partial

from slowwave.flows.ask.narrowed import Narrowed
from slowwave.flows.kernel.errors import not_installed
from slowwave.flows.kernel.settings import Settings


def run_mcp(settings: Settings, narrowed: Narrowed, port: int | None = None) -> None:
    """Answer one client until it closes standard input; with a port, whoever has a token, over HTTP, until stopped.

    Raises UserError where the package mcp is not installed, or the port cannot be used.
    """
    try:
        import anyio

        from slowwave.flows.mcp.current_publish import PublishConnections
        from slowwave.flows.mcp.http import serve_http
        from slowwave.flows.mcp.server import mcp_server
        from slowwave.flows.mcp.stdio import serve_stdio
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"mcp", "mcp_types"}:
            raise
        raise not_installed("a server for agents needs the package mcp", "mcp") from error
    if port is not None:
        serve_http(settings, narrowed, port)
        return
    server = mcp_server(PublishConnections(settings), lambda _request: narrowed)
    try:
        anyio.run(partial(serve_stdio, server))
    except* BrokenPipeError:  # the client has gone
        pass
