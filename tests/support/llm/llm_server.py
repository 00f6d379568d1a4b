"""An OpenAI-compatible server on loopback: it answers over real HTTP, well or badly, and remembers what it was sent."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Request = dict[str, Any]
MERGE = {"action": "merge", "kind": "fact", "target": "1", "reason": "The same in other words."}
ADD = {"action": "add", "kind": "model", "target": "none", "reason": "Nothing like it was there."}
SAME = {"actions": [{"action": "update", "target": "1", "reason": "It says the same."}]}
ALONE = {"actions": [{"action": "create", "target": "none", "reason": "Nothing like it was there."}]}


@dataclass
class Reply:
    """What is sent back: a chat completion of `text`, unless `body` says otherwise."""

    text: str = ""
    status: int = 200
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    finish_reason: str = "stop"
    usage: Any = None
    wait_seconds: float = 0.0
    hang_up_after: int | None = None  # bytes of the body that are sent
    is_endless: bool = False  # the body is sent again and again, until the client has gone


def data_of(request: Request) -> dict[str, Any]:
    """The data of a request: what stands in the fence, read as a model would."""
    user = request["messages"][1]["content"]
    fence = re.fullmatch(r"<data (\w+)>\n(.*)\n</data \1>", user, flags=re.DOTALL)
    assert fence, user
    return json.loads(fence[2])


def is_curate(request: Request) -> bool:
    return "what should become of it" in request["messages"][0]["content"]


def good_answer(request: Request) -> Reply:
    """What a sensible model says: the first memory shown says the same."""
    shown = data_of(request)["existing"]
    said = (MERGE if shown else ADD) if is_curate(request) else (SAME if shown else ALONE)
    return Reply(json.dumps(said), usage={"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120})


def always(text: str = "", **how: Any) -> Callable[[Request], Reply]:
    """The same reply, whatever is asked."""
    return lambda _request: Reply(text, **how)


@dataclass
class LlmServer:
    """What the server has seen."""

    url: str
    reply: Callable[[Request], Reply]
    requests: list[Request] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    sent: int = 0  # bytes of endless bodies that the client took
    connections: int = 0  # that are open
    at_once: int = 0
    most_at_once: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def users(self) -> list[str]:
        """The prompts it was sent."""
        return [request["messages"][0]["content"] + request["messages"][1]["content"] for request in self.requests]


def _handler(server: LlmServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle(self) -> None:
            with server.lock:
                server.connections += 1
            try:
                super().handle()
            finally:
                with server.lock:
                    server.connections -= 1

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with server.lock:
                server.requests.append(request)
                server.headers.append({name.lower(): value for name, value in self.headers.items()})
                server.at_once += 1
                server.most_at_once = max(server.most_at_once, server.at_once)
            try:
                reply = server.reply(request) if self.path == "/v1/chat/completions" else Reply(status=404)
                time.sleep(reply.wait_seconds)
            finally:
                with server.lock:
                    server.at_once -= 1
            self._send(reply)

        def _send(self, reply: Reply) -> None:
            body = reply.body
            if body is None:
                message = {"role": "assistant", "content": reply.text}
                choice = {"index": 0, "message": message, "finish_reason": reply.finish_reason}
                body = json.dumps({"object": "chat.completion", "choices": [choice], "usage": reply.usage}).encode()
            try:
                self.send_response(reply.status)
                for name, value in {"Content-Type": "application/json", **reply.headers}.items():
                    self.send_header(name, value)
                if reply.is_endless:
                    _send_for_ever(self, server, body)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if reply.hang_up_after is not None:
                    self.wfile.write(body[: reply.hang_up_after])
                    self.close_connection = True
                else:
                    self.wfile.write(body)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True  # the client waited no longer

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - as it is called
            pass

    return Handler


def _send_for_ever(handler: BaseHTTPRequestHandler, server: LlmServer, body: bytes) -> None:
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    while True:
        handler.wfile.write(b"%x\r\n%s\r\n" % (len(body), body))
        with server.lock:
            server.sent += len(body)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing: a client that has gone is what some tests are about."""


@contextmanager
def llm_server(reply: Callable[[Request], Reply] = good_answer) -> Iterator[LlmServer]:
    """A server that answers with `reply` until the block ends."""
    seen = LlmServer("", reply)
    http = _Server(("127.0.0.1", 0), _handler(seen))
    seen.url = f"http://127.0.0.1:{http.server_address[1]}/v1"
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield seen
    finally:
        http.shutdown()
        http.server_close()
        thread.join()


def refused_url() -> str:
    """Where nobody listens."""
    http = _Server(("127.0.0.1", 0), BaseHTTPRequestHandler)
    port = http.server_address[1]
    http.server_close()
    return f"http://127.0.0.1:{port}/v1"
