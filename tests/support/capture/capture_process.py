"""A receiver in a process of its own, and those who post to it."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

_SECONDS = 60


class Receiver:
    """A running `slowwave capture`, by its address and its process."""

    def __init__(self, process: subprocess.Popen[str], url: str) -> None:
        self.process = process
        self.url = url
        self.port = urlsplit(url).port or 0

    def post(self, path: str, body: object, *, token: str = "", **headers: str) -> tuple[int, dict[str, Any]]:
        """Post rows as JSON (bytes and text as they are); the status, and what was answered."""
        status, _, answer = self.ask("POST", path, body, token=token, **headers)
        return status, json.loads(answer or b"{}")

    def ask(
        self, method: str, path: str, body: object = None, *, token: str = "", **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        """The status, the headers and the body of an answer; `_` in the names of headers stands for `-`."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if token:
            sent["Authorization"] = f"Bearer {token}"
        raw = body if isinstance(body, bytes) else body.encode() if isinstance(body, str) else json.dumps(body).encode()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_SECONDS)
        try:
            connection.request(method, path, None if body is None else raw, sent)
            answer = connection.getresponse()
            return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
        finally:
            connection.close()

    def kill(self) -> None:
        """End it as no program can notice."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> int:
        """End it as a person does; its exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(60)


@contextmanager
def receiving(home: Path, *options: str, prepare: Callable[[], None] | None = None) -> Iterator[Receiver]:
    """A receiver of a home, once it answers; what it says to stderr is in `capture.log` beside the home."""
    with (home.parent / "capture.log").open("a") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "slowwave.flows.cli.main", "capture", *options],
            env={**os.environ, "SLOWWAVE_HOME": str(home)},
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            preexec_fn=prepare,  # noqa: PLW1509 - before any thread is started
        )
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert url.startswith("http"), (home.parent / "capture.log").read_text()
        yield Receiver(process, url)
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
