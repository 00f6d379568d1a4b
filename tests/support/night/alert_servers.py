"""Servers on loopback that alerts go to: one of HTTP that takes, refuses or hangs by the path, and one of mail."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Taken:
    """What a server was sent, in order; `refused`: paths that answer 500; `release` ends what hangs."""

    port: int = 0
    requests: list[tuple[str, str, bytes]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    refused: set[str] = field(default_factory=set)
    release: threading.Event = field(default_factory=threading.Event)

    def url(self, path: str = "/hook", scheme: str = "http") -> str:
        return f"{scheme}://127.0.0.1:{self.port}{path}"

    def paths(self) -> list[str]:
        return [path for _, path, _ in self.requests]


@contextmanager
def http_server() -> Iterator[Taken]:
    """A server that keeps what it is sent; below /hang it never answers, /moved leads to /hook."""
    taken = Taken()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            taken.requests.append((self.command, self.path, content))
            taken.headers.append(dict(self.headers))
            if self.path.startswith("/hang"):
                taken.release.wait()
                return
            status = 500 if self.path in taken.refused else 302 if self.path == "/moved" else 200
            self.send_response(status)
            if status == 302:
                self.send_header("Location", "/hook")
            self.end_headers()

        do_GET = do_POST  # noqa: N815 - as http.server calls it

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - as http.server calls it
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        taken.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield taken
        finally:
            taken.release.set()
            server.shutdown()
            thread.join()


@contextmanager
def mail_server() -> Iterator[tuple[int, list[str]]]:
    """The port of a server that takes mail, and the mails it took."""
    mails: list[str] = []

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.wfile.write(b"220 here\r\n")
            while line := self.rfile.readline():
                verb = line[:4].upper()
                if verb == b"DATA":
                    self.wfile.write(b"354 go on\r\n")
                    mails.append(b"".join(iter(self.rfile.readline, b".\r\n")).decode())
                self.wfile.write(b"221 bye\r\n" if verb == b"QUIT" else b"250 well\r\n")
                if verb == b"QUIT":
                    return

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server.server_address[1], mails
        finally:
            server.shutdown()
            thread.join()
