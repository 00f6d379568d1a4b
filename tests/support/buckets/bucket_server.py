"""An S3 server of its own process on this machine's loopback, and a proxy before it that makes it fail."""

from __future__ import annotations

import random
import re
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

KEYS = {"AWS_ACCESS_KEY_ID": "made-up", "AWS_SECRET_ACCESS_KEY": "made-up", "AWS_REGION": "us-east-1"}
_STARTED_WITHIN_SECONDS = 120.0
_HOST = "127.0.0.1"

# What becomes of a request: None passes it on, (status, code) and bytes are answered instead; "unheard" never comes to
# the server, of "lost" the answer does not come back, of "cut" half of it.
Fault = tuple[int, str] | bytes | str | None
Chooses = Callable[[str, str], Fault]


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as one:
        one.bind((_HOST, 0))
        return one.getsockname()[1]


@contextmanager
def s3_server() -> Iterator[int]:
    """The port of an S3 server, until the end; its buckets are in its memory."""
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", _HOST, "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + _STARTED_WITHIN_SECONDS
        while True:
            try:
                _ask(port, "GET", "/moto-api/")
                break
            except OSError:
                assert process.poll() is None, "the server has ended"
                assert time.monotonic() < deadline, "the server does not answer"
                time.sleep(0.1)
        yield port
    finally:
        process.terminate()
        process.wait()


def make_bucket(port: int, name: str) -> None:
    """Make a bucket on a server."""
    assert _ask(port, "PUT", f"/{name}") == HTTPStatus.OK


def _ask(port: int, method: str, path: str) -> int:
    connection = HTTPConnection(_HOST, port)
    try:
        connection.request(method, path)
        return connection.getresponse().status
    finally:
        connection.close()


class Proxy:
    """Passes requests on to a server, unless `fault`, given method and path, says what becomes of one."""

    def __init__(self, server_port: int) -> None:
        self.fault: Chooses = lambda _method, _path: None
        self.lag_seconds = 0.0  # for so long a listing does not tell of what was written
        self.written_at: dict[str, float] = {}
        self.requests: Counter[str] = Counter()
        self.server_port = server_port
        self._server = _Server((_HOST, 0), _Handler)
        self._server.proxy = self
        self.port: int = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Answer no more."""
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    proxy: Proxy

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Who has hung up is no error."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server  # pyright: ignore[reportIncompatibleVariableOverride] - no other makes it

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name there
        pass

    def _take(self) -> None:
        proxy = self.server.proxy
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        proxy.requests[_kind(self.command, self.path)] += 1
        fault = proxy.fault(self.command, self.path)
        if isinstance(fault, tuple):
            status, code = fault
            said = f"<Error><Code>{code}</Code><Message>made up</Message></Error>"
            self._answer(status, {"Content-Type": "application/xml"}, said.encode())
        elif isinstance(fault, bytes):
            self._answer(200, {"Content-Type": "application/xml"}, fault)
        elif fault == "unheard":
            self.close_connection = True
        else:
            self._pass_on(body, fault)

    def _pass_on(self, body: bytes, fault: str | None) -> None:
        connection = HTTPConnection(_HOST, self.server.proxy.server_port)
        try:
            connection.request(self.command, self.path, body, dict(self.headers.items()))
            answer = connection.getresponse()
            content = answer.read()
        except (OSError, HTTPException):
            self.close_connection = True
            return
        finally:
            connection.close()
        if _kind(self.command, self.path) == "LIST":
            content = self._as_it_was(content)
        elif self.command in {"PUT", "POST"}:
            self.server.proxy.written_at[_key(self.path)] = time.monotonic()
        headers = {name: value for name, value in answer.getheaders() if name.lower() not in _OWN_HEADERS}
        if self.command == "HEAD":
            headers["Content-Length"] = answer.getheader("Content-Length") or "0"
        if fault == "lost":
            self.close_connection = True
        else:
            self._answer(answer.status, headers, content, is_cut=fault == "cut")

    def _as_it_was(self, listed: bytes) -> bytes:
        """A listing without what was written a moment ago."""
        proxy = self.server.proxy
        young = {key for key, at in proxy.written_at.items() if time.monotonic() - at < proxy.lag_seconds}
        told = re.split(rb"(<Contents>.*?</Contents>)", listed, flags=re.DOTALL)
        return b"".join(one for one in told if not (found := _LISTED.search(one)) or found[1].decode() not in young)

    def _answer(self, status: int, headers: dict[str, str], content: bytes, *, is_cut: bool = False) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if is_cut else content)
        if is_cut:
            self.wfile.flush()
            self.close_connection = True

    do_GET = do_PUT = do_HEAD = do_POST = do_DELETE = _take  # noqa: N815 - their names there


_LISTED = re.compile(rb"<Contents>.*?<Key>(.*?)</Key>", re.DOTALL)
_OWN_HEADERS = frozenset({"content-length", "connection", "transfer-encoding", "date", "server"})


def _key(path: str) -> str:
    """The object that a request is about, without its bucket."""
    return unquote(path.partition("?")[0]).lstrip("/").partition("/")[2]


def _kind(method: str, path: str) -> str:
    if method == "GET":
        return "LIST" if "list-type=" in path else "GET"
    return "DELETE" if method == "DELETE" or (method == "POST" and "delete" in path) else method


def random_faults(seed: int, share: float) -> Chooses:
    """Of this share of requests one of several faults; the same for the same order of requests."""
    draws, turn = random.Random(seed), threading.Lock()
    faults: tuple[Fault, ...] = ((503, "SlowDown"), (500, "InternalError"), "unheard", "lost", "cut")

    def fault(_method: str, _path: str) -> Fault:
        with turn:
            return draws.choice(faults) if draws.random() < share else None

    return fault


def environment(port: int, lake: str) -> dict[str, str]:
    """What a process is told so that its lake is in a bucket behind this port."""
    return {**KEYS, "AWS_ENDPOINT_URL": f"http://{_HOST}:{port}", "SLOWWAVE_LAKE": lake, "SLOWWAVE_LAKE_SECONDS": "20"}
