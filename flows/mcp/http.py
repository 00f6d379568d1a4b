"""The same server over HTTP, on this machine alone: for who names this machine, comes from no page, and has a token."""

from __future__ import annotations

import json
import signal
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from types import FrameType

import uvicorn
from mcp.server.mcpserver import MCPServer
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from slowwave.flows.ask.narrowed import Narrowed
from slowwave.flows.capture.limits import is_addressed, is_of_other_site
from slowwave.flows.kernel.bearer_tokens import Tokens
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.terminal import terminal_safe
from slowwave.flows.mcp.current_publish import PublishConnections
from slowwave.flows.mcp.server import mcp_server

ADDRESS = "127.0.0.1"
PATH = "/mcp"
_NARROWED = "slowwave.narrowed"
_AT_ONCE = 200
_LARGEST_BODY = 2**20
_STOPPED = 128 + signal.SIGTERM
_SECONDS_TO_STOP = 2


def serve_http(settings: Settings, narrowed: Narrowed, port: int) -> None:
    """Answer at an address that is printed, until stopped.

    Raises UserError when the port cannot be used, SystemExit on SIGTERM, KeyboardInterrupt on Ctrl-C.
    """
    server = mcp_server(PublishConnections(settings), narrowed_by_request)
    with _listening(port) as listener:
        config = uvicorn.Config(
            Guarded(_app(server, listener.getsockname()[1]), settings, narrowed),
            log_level="error",
            access_log=False,
            limit_concurrency=_AT_ONCE,
            timeout_graceful_shutdown=_SECONDS_TO_STOP,
        )
        signal.signal(signal.SIGTERM, _stop)
        uvicorn.Server(config).run(sockets=[listener])


def narrowed_by_request(request: object | None) -> Narrowed:
    """Whose memories the sender of a request may see, which `Guarded` has found out."""
    scope: Scope = request.scope  # type: ignore[union-attr] - Starlette's, of every call over HTTP
    return scope[_NARROWED]


class Guarded:
    """ASGI middleware that lets in who may ask, and says to the tools whose memories they may see."""

    def __init__(self, app: ASGIApp, settings: Settings, narrowed: Narrowed) -> None:
        self._app = app
        self._tokens = Tokens(settings)
        self._narrowed = narrowed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what is of somebody who may ask."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)
        if len(headers.getlist("host")) != 1 or not is_addressed(headers["host"], ()) or is_of_other_site(headers):
            await _refuse(send, 403, "this server is for programs on its own machine")
            return
        try:
            token = self._tokens.verify_token(headers.get("authorization"), "mcp")
        except UserError as error:
            sys.stderr.write(f"slowwave: {terminal_safe(str(error))}\n")
            await _refuse(send, 503, "no token can be checked here now: see where the server was started")
            return
        if token is None:
            await _refuse(
                send, 401, "send `Authorization: Bearer TOKEN`: `slowwave token add NAME --use mcp` makes one"
            )
            return
        own = self._narrowed.project
        if token.project is not None and own is not None and token.project != own:
            await _refuse(send, 403, "this token is of another project than this server")
            return
        scope[_NARROWED] = replace(self._narrowed, project=token.project if own is None else own)
        await self._app(scope, receive, send)


def _app(server: MCPServer, port: int) -> ASGIApp:
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        max_request_body_size=_LARGEST_BODY,
        host=ADDRESS,
    )
    begin = app.router.lifespan_context

    @asynccontextmanager
    async def answering(of: object) -> AsyncIterator[object]:
        async with begin(of) as state:
            sys.stdout.write(f"http://{ADDRESS}:{port}{PATH}\n")
            sys.stdout.flush()
            yield state

    app.router.lifespan_context = answering  # type: ignore[assignment] - as it was, and says where it is
    return app


@contextmanager
def _listening(port: int) -> Iterator[socket.socket]:
    # named, for only then asyncio sends what is written at once: else an answer of two writes waits 40 ms for an ACK
    with socket.socket(proto=socket.IPPROTO_TCP) as listener:
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((ADDRESS, port))
            listener.listen(_AT_ONCE)
        except OSError as error:
            message = f"port {port} cannot be used ({error.strerror}): choose another --http"
            raise UserError(message) from error
        yield listener


def _stop(_signal: int, _frame: FrameType | None) -> None:
    sys.exit(_STOPPED)


async def _refuse(send: Send, status: int, why: str) -> None:
    headers = [(b"content-type", b"application/json")]
    headers += [(b"www-authenticate", b"Bearer")] if status == 401 else []  # noqa: PLR2004 - not let in
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps({"error": why}).encode()})
