"""`slowwave dashboard`: the pages of dashboards/app/app.py on this machine alone, until stopped.

Streamlit's server answers only requests that name this machine and come from its own pages: else any page open in the
same browser could read the tables over its websocket, directly or by a name that leads here. And only those that know
the token of the address it prints, which a cookie then holds: else any other user of the machine could. Streamlit
itself writes nothing, asks nothing and sends nothing. With --allow-decisions the same holds for who may decide.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import sys
import traceback
import webbrowser
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import resources
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from slowwave.dashboards.app.own_page import allow_decisions as allow_decisions_on
from slowwave.dashboards.app.own_page import is_own_page
from slowwave.flows.ask.narrowed import EVERYTHING, Narrowed
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.terminal import terminal_safe

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import HTMLResponse
    from starlette.types import ASGIApp, Message, Receive, Scope, Send
    from streamlit import App

_ADDRESS = "127.0.0.1"
_TOKEN = "token"  # noqa: S105 - what it is called in the address
_STOPPED = 128 + signal.SIGTERM
_SECONDS_TO_STOP = 2
_OPTIONS: dict[str, Any] = {
    "global.developmentMode": False,
    "server.headless": True,
    "server.address": _ADDRESS,
    "server.fileWatcherType": "none",
    "server.enableCORS": True,
    "server.enableXsrfProtection": True,
    "server.enableStaticServing": False,
    "server.enableAgentApi": False,
    "server.allowedHosts": [_ADDRESS, "localhost"],
    "server.corsAllowedOrigins": [],
    "server.maxUploadSize": 1,
    "server.showEmailPrompt": False,
    "browser.serverAddress": _ADDRESS,
    "browser.gatherUsageStats": False,
    "client.toolbarMode": "viewer",
    "client.disableDataExport": True,  # its CSV holds formulas; the pages' own downloads do not
    "client.showErrorDetails": "none",
    "client.showErrorLinks": False,
    "client.allowedOrigins": [],
    "runner.magicEnabled": False,
    "logger.level": "error",
    "secrets.files": [],
}
# Charts are compiled in the browser, and Streamlit puts styles and small scripts into its page; nothing comes from, or
# goes to, anywhere else.
_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; worker-src 'self' blob:; "
    "connect-src 'self' {socket}; object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'"
)


def run_dashboard(
    settings: Settings,
    *,
    port: int,
    open_browser: bool,
    narrowed: Narrowed = EVERYTHING,
    allow_decisions: bool = False,
) -> None:
    """Serve the dashboard on `port` of this machine, and print its address once it answers; ends when stopped.

    `narrowed`: whose memories its pages show. `allow_decisions`: people may decide on its pages.

    Raises UserError when the port is taken or not allowed, SystemExit on SIGTERM, KeyboardInterrupt on Ctrl-C.
    """
    listening = _listening(port)
    import uvicorn  # as slow to load as Streamlit
    from streamlit import cache_resource
    from streamlit.web.bootstrap import load_config_options

    load_config_options(_OPTIONS | {"server.port": port, "browser.serverPort": port})
    os.environ["SLOWWAVE_HOME"] = str(settings.home)  # what the pages' own threads go by
    os.environ.update(narrowed.environment())
    allow_decisions_on(_hosts(port) if allow_decisions else ())
    signal.signal(signal.SIGTERM, _stop)
    config = uvicorn.Config(
        _app(port, open_browser=open_browser),
        log_level="error",
        access_log=False,
        timeout_graceful_shutdown=_SECONDS_TO_STOP,
    )
    try:
        uvicorn.Server(config).run(sockets=[listening])
    finally:
        listening.close()
        cache_resource.clear()


def _stop(_signal: int, _frame: FrameType | None) -> None:
    sys.exit(_STOPPED)


def _hosts(port: int) -> set[str]:
    """What a browser on this machine may call the dashboard."""
    with_port = {f"{name}:{port}" for name in (_ADDRESS, "localhost")}
    return with_port | ({_ADDRESS, "localhost"} if port == 80 else set())  # noqa: PLR2004 - browsers leave it out


def _listening(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((_ADDRESS, port))
        listening.listen()
    except OSError as error:
        listening.close()
        message = f"port {port} cannot be used ({error.strerror}): is a dashboard open already? Else choose --port"
        raise UserError(message) from error
    return listening


def _app(port: int, *, open_browser: bool) -> App:
    from starlette.middleware import Middleware
    from starlette.routing import Route
    from streamlit import App

    from slowwave.dashboards.app.app import PAGES

    token = secrets.token_urlsafe(24)

    @asynccontextmanager
    async def answering(_app: App) -> AsyncIterator[None]:
        address = f"http://{_ADDRESS}:{port}/?{_TOKEN}={token}"
        sys.stdout.write(f"{address}\n")
        sys.stdout.flush()
        if open_browser:
            webbrowser.open(address)
        yield

    script = Path(str(resources.files("slowwave.flows.cli").joinpath("dashboard_script.py")))
    routes = [Route(f"/{path}", _page) for path in ("", *PAGES)]
    return App(
        script,
        lifespan=answering,
        routes=routes,
        middleware=[Middleware(OwnPages, port=port, token=token)],
        on_script_error=_told_of,
    )


def _told_of(error: Exception) -> bool:
    """Write a fault of ours where the dashboard was started, and say so on the page without its details."""
    from slowwave.dashboards.app.widgets import notice

    sys.stderr.write(
        "".join(f"{terminal_safe(line)}\n" for part in traceback.format_exception(error) for line in part.splitlines())
    )
    notice("error", "this page could not be drawn whole", "what went wrong stands where the dashboard was started")
    return True


def _page(request: Request) -> HTMLResponse:
    """Streamlit's page, told where its server is: else it tries each part of its own address, in vain at first."""
    import streamlit
    from starlette.responses import HTMLResponse

    page = Path(streamlit.__file__).parent.joinpath("static", "index.html").read_text(encoding="utf-8")
    base = json.dumps({"BACKEND_BASE_URL": f"http://{request.headers['host']}/"})
    told = page.replace("<head>", f"<head><script>window.__streamlit = {base}</script>", 1)
    return HTMLResponse(told, headers={"cache-control": "no-store"})


class OwnPages:
    """ASGI middleware that refuses what does not name this machine, comes from pages of others, or lacks the token."""

    def __init__(self, app: ASGIApp, port: int, token: str) -> None:
        self._app = app
        self._token = token.encode()
        self._cookie = f"slowwave_{port}=".encode()  # cookies are of a machine, whatever the port
        self._hosts = _hosts(port)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what is of our own pages."""
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        given = [(name.lower(), value.decode("latin-1").lower()) for name, value in scope["headers"]]
        hosts = [value for name, value in given if name == b"host"]
        origins = [value for name, value in given if name == b"origin"]
        if not is_own_page(hosts, origins, self._hosts):
            await _refuse(scope, send, b"this dashboard is for its own machine alone\n")
            return
        is_known = self._is_known(scope)
        if not is_known or _given_tokens(scope):
            await self._ask_in(scope, send, is_known=is_known)
            return
        policy = _POLICY.format(socket=f"ws://{hosts[0]}").encode()

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [
                    *message["headers"],
                    (b"content-security-policy", policy),
                    (b"x-content-type-options", b"nosniff"),
                    (b"referrer-policy", b"no-referrer"),
                ]
            await send(message)

        await self._app(scope, receive, send_with_headers)

    def _is_known(self, scope: Scope) -> bool:
        cookies = b";".join(value for name, value in scope["headers"] if name.lower() == b"cookie").split(b";")
        given = (cookie.strip().removeprefix(self._cookie) for cookie in cookies)
        return any(secrets.compare_digest(each, self._token) for each in given)

    async def _ask_in(self, scope: Scope, send: Send, *, is_known: bool) -> None:
        """Give the cookie for the token, and the address without it, so that it is not shown or kept in links.

        Who `is_known` by a cookie gets the address alone, whatever the token.
        """
        given = _given_tokens(scope)
        is_right = any(secrets.compare_digest(part.partition(b"=")[2], self._token) for part in given)
        if not is_right and not is_known:
            await _refuse(scope, send, b"open the address that `slowwave dashboard` has printed: it holds a token\n")
            return
        rest = b"&".join(part for part in scope["query_string"].split(b"&") if part not in given)
        # one slash: two, or a backslash after it, would lead to another machine
        where = b"/" + scope["raw_path"].lstrip(b"/\\") + (b"?" + rest if rest else b"")
        cookie = self._cookie + self._token + b"; Path=/; HttpOnly; SameSite=Lax"
        headers = [(b"location", where), (b"cache-control", b"no-store"), (b"referrer-policy", b"no-referrer")]
        headers += [(b"set-cookie", cookie)] if is_right else []
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


def _given_tokens(scope: Scope) -> list[bytes]:
    """The parts of an address that hold a token."""
    asked = scope["query_string"].split(b"&") if scope["type"] == "http" else []
    return [part for part in asked if part.startswith(f"{_TOKEN}=".encode())]


async def _refuse(scope: Scope, send: Send, why: bytes) -> None:
    """403, to a websocket as well."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
        return
    await send({"type": "http.response.start", "status": 403, "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": why})
