"""Endpoints that cannot be used, and servers that point elsewhere or never end: told in a line, with no secret."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from llm_home import KEY, QUESTIONS, LlmHome, llm_home
from llm_server import ADD, SAME, Reply, Request, always, good_answer, is_curate

from slowwave.flows.cli import main as cli
from slowwave.flows.llm.client import endpoint_from_environment
from slowwave.flows.llm.stage import asked_line

pytestmark = pytest.mark.slow  # whole homes and commands: continuous integration runs them

NO_URL = "SLOWWAVE_LLM_URL is no http(s) URL, such as http://localhost:8080/v1"
USERINFO = "SLOWWAVE_LLM_URL holds a user or a password: set SLOWWAVE_LLM_KEY in their place"
QUERY = "SLOWWAVE_LLM_URL ends in a query or a fragment: leave out what begins with ? or #"
ODD_KEY = "SLOWWAVE_LLM_KEY holds characters that no key has: only printable ASCII can be sent"
NO_URLS = [
    "localhost:8080", "ftp://x/v1", "http://", "http:///v1", "http://:80/v1", "file:///etc/passwd", "http://[::1/v1",
    "http://127.0.0.1:99999/v1", "http://127.0.0.1:0/v1", "http://127.0.0.1:x/v1", "http://-/v1", "http://..:9/v1",
    "http://a..b/v1", "http://exa mple/v1", "http://\u00e9\u2028.x/v1", "http://\udcff/v1", f"http://{'a' * 300}/v1",
    f"http://{'a.' * 127}a/v1", "http://1.2.3/v1", "http://1.2.3.999/v1", "http://[1.2.3.4]/v1", "http://a\\b/v1",
    "http://a\tb/v1", "http://a/v 1", "http://a/v\x7f1",
]  # fmt: skip
USABLE = [
    "http://localhost:8080/v1", "https://api.example.org/v1/", "HTTP://[::1]:8080/v1", "http://127.0.0.1/v1",
    "http://llm_server:1/v1", "http://a.example.:65535", "https://xn--bcher-kva.example/a/b",
]  # fmt: skip


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LlmHome]:
    with llm_home(tmp_path, monkeypatch) as made:
        yield made


def refused(home: LlmHome, capsys: pytest.CaptureFixture[str]) -> str:
    """What the command says; the stage of a night says the same."""
    capsys.readouterr()
    code = cli._exit_code(["review", "curate"])
    out, err = capsys.readouterr()
    assert (code, out, err.count("\n")) == (1, "", 1)
    message = err.removeprefix("slowwave: ").strip()
    night = home.asked()
    assert (night.landed, asked_line(night)) == (0, f"the model cannot be asked: {message}")
    return message


@pytest.mark.parametrize(
    ("url", "says"),
    [
        *[(url, NO_URL) for url in NO_URLS],
        ("http://user:hunter2@localhost/v1", USERINFO),
        ("http://hunter2@localhost/v1", USERINFO),
        ("http://localhost/v1?key=hunter2", QUERY),
        ("http://localhost/v1#hunter2", QUERY),
        ("http://localhost/v1?", QUERY),
    ],
)
def test_a_url_that_cannot_be_used_is_told_in_a_line(home, capsys, monkeypatch, url, says):
    monkeypatch.setenv("SLOWWAVE_LLM_URL", url)
    assert refused(home, capsys) == says


@pytest.mark.parametrize("url", USABLE)
def test_a_url_that_can_be_used_is(monkeypatch, url):
    monkeypatch.setenv("SLOWWAVE_LLM_URL", url)
    endpoint = endpoint_from_environment()
    assert endpoint is not None
    assert endpoint.url == url


@pytest.mark.parametrize("key", ["sk-\u00e9", "sk-a\nX: y", "sk-a\x7f", "sk-\udcff", "sk-\u200b1", "sk-a\tb"])
def test_a_key_that_no_request_can_hold_is_told_and_not_shown(home, capsys, monkeypatch, key):
    server = home.serve()
    monkeypatch.setenv("SLOWWAVE_LLM_KEY", key)
    assert refused(home, capsys) == ODD_KEY
    assert server.requests == []


@pytest.mark.slow
@pytest.mark.prefect
def test_a_night_with_such_a_key_is_green_and_keeps_it_to_itself(home, monkeypatch):
    home.serve()
    monkeypatch.setenv("SLOWWAVE_LLM_KEY", f"{KEY}\u00e9")
    done = home.run("nightly")
    assert done.returncode == 0, done.stderr
    assert ODD_KEY in " ".join(done.stdout.split())
    assert {row["is_pending"] for row in home.published().values()} == {True}
    assert KEY not in done.stdout + done.stderr
    for path in home.folder.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("HTTP_PROXY", "nonsense://user:hunter2@x", "ValueError"),
        ("HTTP_PROXY", "http://user:hunter2@127.0.0.1:99999", "\\w+"),
        ("SSL_CERT_FILE", "/hunter2", "FileNotFoundError"),
    ],
)
def test_what_nobody_foresaw_is_told_by_its_name_alone(home, capsys, monkeypatch, name, value, says):
    home.serve()
    for variable in [known for known in os.environ if known.lower().endswith("_proxy")]:
        monkeypatch.delenv(variable)
    monkeypatch.setenv(name, value)
    answers = home.asked()
    assert (answers.landed, answers.pending) == (0, QUESTIONS)
    assert re.fullmatch(f"the client failed: {says}", answers.ended)
    capsys.readouterr()
    assert cli._exit_code(["review", "curate"]) == 1
    assert "hunter2" not in "".join(capsys.readouterr()) + answers.ended + str(answers.failed)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_prompt_goes_where_a_server_points(home, status):
    elsewhere = home.serve()
    server = home.serve(always(status=status, headers={"Location": f"{elsewhere.url}/chat/completions"}))
    answers = home.asked()
    assert (len(server.requests), elsewhere.requests, elsewhere.headers) == (1, [], [])
    assert answers.ended == f"HTTP {status}: check SLOWWAVE_LLM_URL"


@pytest.mark.parametrize("status", [200, 307, 400, 401, 404, 500])
def test_no_body_is_read_for_ever(home, status):
    home.set_params(attempts=1, max_failures=1)
    server = home.serve(always(status=status, body=b" " * 2**16, is_endless=True))
    assert home.asked().landed == 0
    # what the client did not read stands in buffers of the two sockets
    assert server.sent < 16 * 2**20 * len(server.requests)


@pytest.mark.parametrize("encoding", ["gzip", "deflate, gzip", "zstd", "x-unknown"])
def test_nothing_is_unpacked(home, encoding):
    server = home.serve(always(body=b"\x1f\x8b", headers={"Content-Encoding": encoding}))
    assert home.asked().ended == "the answer is compressed, which was not asked for"
    assert [headers["accept-encoding"] for headers in server.headers] == ["identity"]


def _says_the_key(request: Request, key: str) -> Reply:
    (same,) = SAME["actions"]
    target = {**same, "target": key, "reason": key}
    said = {**ADD, "reason": f"Your key is {key}."} if is_curate(request) else {"actions": [same, target]}
    return Reply(json.dumps(said))


@pytest.mark.parametrize("written", [str, lambda key: key.replace("s", "s\0")], ids=["plain", "with NUL"])
def test_a_key_that_the_server_says_is_not_landed(home, written: Callable[[str], str]):
    home.serve(lambda request: _says_the_key(request, written(KEY)))
    home.nightly()
    assert home.landed().height == QUESTIONS
    assert KEY not in str(home.landed().to_dicts()) + str(home.published())
    assert {row["reason"] for row in home.published().values()} == {"Your key is [key]."}


def test_without_a_key_no_word_is_taken_for_one(home, monkeypatch):
    monkeypatch.delenv("SLOWWAVE_LLM_KEY")
    server = home.serve(lambda request: Reply(json.dumps({**ADD, "reason": "none"} if is_curate(request) else SAME)))
    home.nightly()
    assert {row["reason"] for row in home.published().values()} == {"none"}
    assert {headers["authorization"] for headers in server.headers} == {"Bearer none"}


def test_the_libraries_say_nothing_of_requests(home):
    server = home.serve(good_answer)
    code = (
        "import logging; logging.basicConfig(level=logging.DEBUG, format='%(name)s %(message)s')\n"
        "from slowwave.flows.cli.main import main; main(['review', 'curate'])"
    )
    environment = {**os.environ, "OPENAI_LOG": "debug"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    assert not [line for line in done.stderr.splitlines() if line.startswith(("http", "openai"))]
    assert server.url not in done.stderr
    assert len(server.requests) == QUESTIONS
