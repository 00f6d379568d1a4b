"""The server as clients start it: over standard input and output, and over HTTP with a token."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from mcp import Client, StdioServerParameters, stdio_client
from small_home import SmallHome, interaction, memory

from slowwave.flows.kernel.bearer_tokens import add_token, revoke_token
from slowwave.flows.lake.current import link_current
from slowwave.flows.mcp import server

pytestmark = pytest.mark.slow
CALLS = 1_000
PUBLISHES = 50
COMMAND = [sys.executable, "-m", "slowwave.flows.cli.main", "mcp"]
BEGIN = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> SmallHome:
    """A home that has published twice: one memory, then two."""
    made = SmallHome(tmp_path_factory.mktemp("mcp") / "home")
    made.land(memory("m-1"), memory("theirs", project="bank"), interaction("i-1", memories_used=["m-1"]))
    made.nightly(datetime(2026, 3, 5))  # noqa: DTZ001 - times are naive and hold UTC everywhere
    made.land(memory("m-2"))
    made.nightly(datetime(2026, 3, 5) + timedelta(days=1))  # noqa: DTZ001
    return made


def environment(home: SmallHome) -> dict[str, str]:
    return {**os.environ, "SLOWWAVE_HOME": str(home.folder)}


def said(home: SmallHome, *lines: str, end: str = "\n") -> list[dict[str, Any]]:
    """What is answered on standard output to these lines; every line of it is a message of the protocol."""
    done = subprocess.run(
        COMMAND, input="\n".join(lines) + end, env=environment(home), capture_output=True, text=True, check=True
    )
    assert "Traceback" not in done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def asked(at: int, method: str, **params: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": at, "method": method, "params": params})


def call(at: int, tool: str, **arguments: Any) -> str:
    return asked(at, "tools/call", name=tool, arguments=arguments)


def test_plain_lines_are_answered_also_when_the_client_has_said_all(home: SmallHome) -> None:
    lines = [
        asked(1, "initialize", **BEGIN),
        asked(2, "tools/list"),
        call(3, "memory_health"),
        call(4, "why", id="m-1"),
    ]
    bad = ["no json", '{"jsonrpc": "2.0"}', "\x00", asked(5, "no/such"), '{"jsonrpc":"2.0","id":6,"method":"tools/ca']
    answers = said(home, *lines, *bad, end="")
    by_id = {answer["id"]: answer for answer in answers if answer["id"] is not None}
    assert len(by_id[2]["result"]["tools"]) == 6
    assert {row["memory_id"] for row in by_id[3]["result"]["structuredContent"]["rows"]} == {"m-1", "m-2", "theirs"}
    assert by_id[4]["result"]["structuredContent"]["found"]["memory_id"] == "m-1"
    assert by_id[5]["error"]["code"] == -32601
    assert [answer["error"]["code"] for answer in answers if answer["id"] is None] == [-32700] * 4


def test_a_wrong_protocol_version_is_answered_with_one_that_is_spoken(home: SmallHome) -> None:
    (answer,) = said(home, asked(1, "initialize", **BEGIN | {"protocolVersion": "1999-01-01"}))
    assert answer["result"]["protocolVersion"] > "2024"


@pytest.mark.parametrize("named", [[1], {"a": 1}, None, 1.5, 7])
def test_to_give_up_what_was_never_asked_ends_nothing(named: object, home: SmallHome) -> None:
    given_up = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": named}}
    answers = said(home, asked(1, "initialize", **BEGIN), json.dumps(given_up), asked(2, "tools/list"))
    assert {answer["id"] for answer in answers} == {1, 2}


def test_a_thousand_calls_at_once_are_all_answered(home: SmallHome) -> None:
    calls = [call(at, "sql", name="memories_by_verdict") for at in range(2, CALLS + 2)]
    answers = said(home, asked(1, "initialize", **BEGIN), *calls)
    assert {answer["id"] for answer in answers} == set(range(1, CALLS + 2))
    assert not any(answer["result"].get("isError") for answer in answers)


def test_a_line_without_an_end_is_refused_and_not_kept(home: SmallHome) -> None:
    begun = subprocess.Popen(COMMAND, env=environment(home), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert begun.stdin is not None
        assert begun.stdout is not None

        def answered(line: bytes) -> dict[str, Any]:
            assert begun.stdin is not None
            assert begun.stdout is not None
            begun.stdin.write(line + b"\n")
            begun.stdin.flush()
            return json.loads(begun.stdout.readline())

        def most_memory() -> int:
            (line,) = (one for one in Path(f"/proc/{begun.pid}/status").read_text().splitlines() if "VmHWM" in one)
            return int(line.split()[1]) // 1024

        assert "result" in answered(asked(1, "initialize", **BEGIN).encode())
        before = most_memory()
        for _ in range(99):
            begun.stdin.write(b"x" * 2**20)
        assert "longer than 1,048,576 bytes" in answered(b"x" * 2**20)["error"]["message"]
        assert most_memory() < before + 30
        assert "tools" in answered(asked(2, "tools/list").encode())["result"]
        begun.stdin.write(b"y" * 2**21)
        begun.stdin.close()
        assert "longer than" in begun.stdout.readline().decode()
    finally:
        if begun.stdin:
            begun.stdin.close()
        assert begun.wait() == 0
        if begun.stdout:
            begun.stdout.close()


def test_the_client_of_the_page_prints_what_is_known(tmp_path: Path) -> None:
    made = SmallHome(tmp_path / "home")
    made.land(memory("m-prices"), interaction("i-1", memories_used=["m-prices"]))
    made.nightly(datetime(2026, 3, 5))  # noqa: DTZ001
    page = Path(server.__file__).with_name("README.md").read_text()
    (example,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    found = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    env = {**environment(made), "PATH": found}
    done = subprocess.run([sys.executable, "-c", example], env=env, capture_output=True, text=True, check=True)
    assert done.stdout == "m-prices unproven None\n"


def test_no_answer_is_of_two_runs(home: SmallHome) -> None:
    """The current run changes back and forth while the official client asks."""
    runs = sorted(path.stem for path in (home.settings.serving / "runs").glob("*.duckdb"))
    ended, known = threading.Event(), {runs[0]: {"m-1", "theirs"}, runs[1]: {"m-1", "m-2", "theirs"}}
    published = [0]

    def publish() -> None:
        while not ended.wait(0.02):
            link_current(home.settings, runs[published[0] % 2])
            published[0] += 1

    async def ask() -> list[tuple[str, set[str]]]:
        found = []
        parameters = StdioServerParameters(command=COMMAND[0], args=COMMAND[1:], env=environment(home))
        async with Client(stdio_client(parameters)) as client:
            while len(found) < CALLS or published[0] < PUBLISHES:
                answers = await asyncio.gather(
                    *(client.call_tool("memory_health", {"sort": "newest"}) for _ in range(8))
                )
                for answer in answers:
                    told: Any = answer.structured_content
                    found.append((told["publish"]["run_id"], {row["memory_id"] for row in told["rows"]}))
        return found

    thread = threading.Thread(target=publish)
    thread.start()
    try:
        found = asyncio.run(ask())
    finally:
        ended.set()
        thread.join()
        link_current(home.settings, runs[1])
    assert [one for one in found if known[one[0]] != one[1]] == []
    assert {run_id for run_id, _ in found} == set(runs)


@contextmanager
def serving(home: SmallHome, *options: str) -> Iterator[str]:
    """The address of a server over HTTP."""
    begun = subprocess.Popen(
        [*COMMAND, "--http", "0", *options], env=environment(home), stdout=subprocess.PIPE, text=True
    )
    try:
        assert begun.stdout is not None
        with begun.stdout:
            yield begun.stdout.readline().strip()
    finally:
        begun.terminate()
        begun.wait()


def posted(address: str, token: str = "", **headers: str) -> tuple[int, Any]:
    """Status and body of a call of `memory_health`."""
    body = call(1, "memory_health").encode()
    all_headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    all_headers |= {"mcp-protocol-version": "2025-06-18", **headers}
    all_headers |= {"authorization": f"Bearer {token}"} if token else {}
    try:
        with urlopen(Request(address, body, all_headers)) as answer:  # noqa: S310 - our own server
            return answer.status, json.loads(answer.read())
    except HTTPError as error:
        with error:
            return error.code, error.read().decode()


def memories(answer: tuple[int, Any]) -> set[str]:
    status, body = answer
    assert status == 200, body
    return {row["memory_id"] for row in body["result"]["structuredContent"]["rows"]}


def test_over_http_a_token_is_asked_for_and_its_project_is_all_that_is_told_of(home: SmallHome) -> None:
    every, shop = (add_token(home.settings, name, "mcp", project) for name, project in (("all", None), ("s", "shop")))
    bank, other = add_token(home.settings, "b", "mcp", "bank"), add_token(home.settings, "c", "capture", "shop")
    with serving(home) as address:
        assert memories(posted(address, every)) == {"m-1", "m-2", "theirs"}
        assert memories(posted(address, shop)) == {"m-1", "m-2"}
        for token in ("", "wrong", other):
            status, body = posted(address, token)
            assert (status, "slowwave token add" in body) == (401, True)
        assert posted(address, every, host="evil.example")[0] == 403
        assert posted(address, every, origin="http://evil.example")[0] == 403
        assert posted(address, every, **{"sec-fetch-site": "cross-site"})[0] == 403
        revoke_token(home.settings, "s")
        assert posted(address, shop)[0] == 401
    with serving(home, "--project", "bank") as address:
        assert memories(posted(address, every)) == memories(posted(address, bank)) == {"theirs"}


def test_nothing_of_the_protocol_needs_a_home_that_is_there(tmp_path: Path) -> None:
    answers = said(SmallHome(tmp_path / "none"), asked(1, "initialize", **BEGIN), call(2, "memory_health"))
    assert "nothing is published yet" in answers[-1]["result"]["content"][0]["text"]
    assert list(tmp_path.iterdir()) == []
