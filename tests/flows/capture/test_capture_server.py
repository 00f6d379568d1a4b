"""`slowwave capture` as those who post to it see it: who is let in, what is too much, and what is kept."""

from __future__ import annotations

import gzip
import json
import os
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from capture_process import Receiver, receiving
from small_home import SmallHome

from slowwave.flows.capture.limits import MEGABYTE
from slowwave.flows.kernel.bearer_tokens import add_token, revoke_token
from slowwave.flows.lake.lake import Lake
from slowwave.transforms.landing.ledger_tables import RunFiles

pytestmark = pytest.mark.slow

EVERYWHERE = "0.0.0.0"  # noqa: S104 - what is tested is that it is not done lightly
ROW = {"prompt": "Push my branch", "response": "Pushed."}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> SmallHome:
    return SmallHome(tmp_path_factory.mktemp("capture") / "home")


@pytest.fixture(scope="module")
def receiver(home: SmallHome) -> Iterator[Receiver]:
    """One that asks for no token."""
    with receiving(home.folder) as receiver:
        yield receiver


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[tuple[Receiver, SmallHome, str]]:
    """One that asks for tokens, and a token of project shop."""
    home = SmallHome(tmp_path / "home")
    token = add_token(home.settings, "api", "capture", "shop")
    with receiving(home.folder) as receiver:
        yield receiver, home, token


def test_one_row_an_array_and_lines_are_answered_row_by_row(receiver: Receiver):
    assert receiver.post("/interactions", ROW)[0] == 200
    status, answer = receiver.post("/outcomes", [{"success": True, "outcome_id": "o-1"}, {"prompt": "x"}])
    assert (status, answer["ids"]) == (200, ["o-1", None])
    assert [one["index"] for one in answer["refused"]] == [1]
    lines = '{"memory_id": "m-1", "content": "a"}\n\nnot json\n{"memory_id": "m-2"}'
    status, answer = receiver.post("/memories", lines, Content_Encoding="identity")
    assert (status, answer["ids"]) == (200, ["m-1", None, "m-2"])
    assert receiver.post("/interactions", gzip.compress(json.dumps(ROW).encode()), Content_Encoding="gzip")[0] == 200
    assert receiver.post("/interactions", {"response": "a"})[0] == 422
    assert receiver.post("/interactions", b"")[0] == 400
    status, headers, answered = receiver.ask("GET", "/interactions")
    assert (status, headers["allow"]) == (405, "POST")
    assert json.loads(answered) == {"error": "/interactions answers POST alone"}
    status, headers, answered = receiver.ask("POST", "/elsewhere", ROW)
    assert (status, headers["content-type"]) == (404, "application/json")
    assert json.loads(answered)["error"].startswith("nothing is taken there: post to /interactions, ")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "localhost.evil.example:80"}, 421),
        ({"Host": "127.0.0.1@evil.example"}, 421),
        ({"Host": "localhost"}, 200),
        ({"Host": "[::1]:99"}, 200),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://[::1"}, 403),
        ({"Sec_Fetch_Site": "cross-site"}, 403),
        ({"Sec_Fetch_Site": "none"}, 200),
        ({"Content_Encoding": "br"}, 415),
        ({"Content_Type": "application/x-protobuf"}, 415),
        ({"Idempotency_Key": "k" * 256}, 400),
        ({"Content_Encoding": "gzip"}, 400),
    ],
)
def test_other_names_other_sites_and_other_codings_are_not_heard(
    headers: dict[str, str], status: int, receiver: Receiver
):
    assert receiver.post("/interactions", ROW, **headers)[0] == status


def test_a_page_of_its_own_address_is_heard(receiver: Receiver):
    assert receiver.post("/interactions", ROW, Origin=receiver.url)[0] == 200


def test_who_has_no_valid_token_is_not_let_in(guarded: tuple[Receiver, SmallHome, str]):
    receiver, home, token = guarded
    for wrong in ("", "swt_wrong", token[:-1], f"{token}x", add_token(home.settings, "ask", "mcp", None)):
        status, headers, body = receiver.ask("POST", "/interactions", ROW, token=wrong)
        assert (status, headers["www-authenticate"]) == (401, "Bearer")
        assert token not in body.decode()
        assert receiver.ask("GET", "/metrics", token=wrong)[0] == 401
    assert receiver.ask("GET", "/healthz")[0] == 200
    assert receiver.ask("GET", "/metrics", token=token)[0] == 200
    assert receiver.post("/interactions", ROW, token=token)[0] == 200
    second = add_token(home.settings, "other", "capture", "other")
    assert receiver.post("/interactions", ROW, token=second)[0] == 200  # known without a new start
    revoke_token(home.settings, "api")
    assert receiver.post("/interactions", ROW, token=token)[0] == 401
    revoke_token(home.settings, "other")
    assert receiver.post("/interactions", ROW)[0] == 401  # nor is anybody let in once the last one is revoked
    home.settings.tokens_file.write_text("{")
    assert receiver.post("/interactions", ROW, token=token)[0] == 503


def test_rows_are_of_the_project_of_their_token(guarded: tuple[Receiver, SmallHome, str]):
    receiver, home, token = guarded
    rows = [ROW, {**ROW, "project": "shop"}, {**ROW, "project": "other"}, {**ROW, "project": ""}]
    status, answer = receiver.post("/interactions", rows, token=token)
    assert status == 200
    assert [one["index"] for one in answer["refused"]] == [2, 3]
    assert home.ask("land").returncode == 0
    told = home.ask("sql", "SELECT DISTINCT project FROM interactions_log", "--format", "json").stdout
    assert json.loads(told) == [{"project": "shop"}]


def test_a_token_may_name_a_mapping(tmp_path: Path):
    home = SmallHome(tmp_path / "home")
    home.settings.mappings.mkdir(parents=True)
    (home.settings.mappings / "app.toml").write_text('version = 3\n[fields]\nprompt = "in.text"\nresponse = "out"\n')
    token = add_token(home.settings, "app", "capture", "shop", "app")
    with receiving(home.folder) as receiver:
        assert receiver.post("/interactions", {"in": {"text": "Push"}, "out": "Pushed."}, token=token)[0] == 200
        shaped = 'version = 4\nexplode = "in"\n[fields]\nprompt = "in.text"\n'
        for text in ("version = ", shaped):
            (home.settings.mappings / "app.toml").write_text(text)
            assert receiver.post("/interactions", {"in": [{"text": "Push"}]}, token=token)[0] == 503
        (home.settings.mappings / "app.toml").write_text("version = ")
        assert receiver.post("/interactions", {"in": {"text": "Push"}}, token=token)[0] == 503
        assert receiver.stop() in {0, 130}
    assert home.ask("land").returncode == 0
    told = home.ask("sql", "SELECT prompt, response, extra FROM interactions_log", "--format", "json").stdout
    (row,) = json.loads(told)
    assert (row["prompt"], row["response"]) == ("Push", "Pushed.")
    assert json.loads(row["extra"])["provenance"] == {"mapping": "app", "version": 3}


def test_the_same_key_is_the_same_rows_also_at_once(receiver: Receiver, home: SmallHome):
    def post(_: int) -> tuple[int, dict[str, Any]]:
        return receiver.post("/interactions", {"prompt": "Only once"}, Idempotency_Key="one")

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(post, range(48)))
    assert {status for status, _ in answers} == {200}
    assert len({answer["ids"][0] for _, answer in answers}) == 1
    texts = "".join(path.read_text() for path in home.settings.inbox.glob("*.jsonl"))
    assert texts.count("Only once") == 1
    assert receiver.post("/interactions", {"prompt": "Another"}, Idempotency_Key="one")[0] == 422


def test_of_ten_thousand_rows_one_that_is_bad_is_refused_and_the_others_are_kept(receiver: Receiver, home: SmallHome):
    rows: list[dict[str, Any]] = [{"prompt": "One of many", "interaction_id": f"many-{n}"} for n in range(10_000)]
    rows[7_777]["prompt"] = 7
    body = gzip.compress(json.dumps(rows).encode())
    status, answer = receiver.post("/interactions", body, Content_Encoding="gzip")
    assert (status, answer["refused"]) == (200, [{"index": 7_777, "reason": "prompt must be text, not a number"}])
    assert answer["ids"] == [None if n == 7_777 else f"many-{n}" for n in range(10_000)]
    texts = "".join(path.read_text() for path in home.settings.inbox.glob("*.jsonl"))
    assert texts.count("One of many") == 9_999


def test_what_is_too_large_is_refused_before_it_is_held(receiver: Receiver):
    assert receiver.post("/interactions", b" " * (8 * MEGABYTE + 1))[0] == 413
    bomb = gzip.compress(b"\0" * (200 * MEGABYTE), 9)
    assert receiver.post("/interactions", bomb, Content_Encoding="gzip")[0] == 413
    assert receiver.post("/v1/traces", bomb, Content_Encoding="gzip", Content_Type="application/json")[0] == 413
    nested = gzip.compress(bomb, 9)
    assert receiver.post("/interactions", nested, Content_Encoding="gzip")[0] == 422
    assert receiver.post("/interactions", b"[" * MEGABYTE)[0] == 422
    with socket.create_connection(("127.0.0.1", receiver.port)) as endless:
        head = "POST /interactions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        endless.sendall(head.encode())
        block = b"100000\r\n" + b" " * MEGABYTE + b"\r\n"
        with suppress(OSError):  # it does not wait for the end
            for _ in range(40):
                endless.sendall(block)
        endless.settimeout(30)
        answer = endless.recv(1000)
    assert b" 413 " in answer.split(b"\r\n")[0]
    assert receiver.post("/interactions", ROW)[0] == 200


def test_slow_clients_by_the_hundred_keep_nobody_out(tmp_path: Path):
    home = SmallHome(tmp_path / "home")
    with receiving(home.folder) as receiver:
        slow = [socket.create_connection(("127.0.0.1", receiver.port)) for _ in range(400)]
        try:
            for at, one in enumerate(slow):
                head = "POST /interactions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n"
                one.sendall(head.encode() + (b"\r\n{" if at % 2 else b""))
            for _ in range(20):
                assert receiver.post("/interactions", ROW)[0] == 200
            silent = slow[0]  # which never ended its headers
            silent.settimeout(60)
            assert silent.recv(1000) == b""
            begun = slow[1]
            begun.settimeout(60)
            assert b" 408 " in begun.recv(1000)
        finally:
            for one in slow:
                one.close()


def test_who_posts_too_fast_is_told_to_wait(tmp_path: Path):
    home = SmallHome(tmp_path / "home")
    with receiving(home.folder, "--rate", "5") as receiver:
        answers = [receiver.ask("POST", "/interactions", ROW)[:2] for _ in range(60)]
    assert 200 in {status for status, _ in answers}
    assert "1" in {headers["retry-after"] for status, headers in answers if status == 429}


def test_what_is_broken_off_is_not_kept(receiver: Receiver, home: SmallHome):
    for sent in (
        b"",
        b"GET",
        b"\x16\x03\x01\x02",
        b"POST /interactions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60\r\n\r\n"
        + json.dumps({"prompt": "Broken off"}).encode(),
    ):
        with socket.create_connection(("127.0.0.1", receiver.port)) as half:
            half.sendall(sent)
    assert receiver.post("/interactions", ROW)[0] == 200
    assert "Broken off" not in "".join(path.read_text() for path in home.settings.inbox.glob("*.jsonl"))


def test_nothing_of_content_is_logged(receiver: Receiver, home: SmallHome):
    receiver.post("/interactions", {"prompt": "S3CRET"}, token="S3CRET")  # noqa: S106
    receiver.post("/interactions", b'{"S3CRET')
    assert receiver.ask("POST", "/S3CRET", ROW)[0] == 404
    assert "S3CRET" not in (home.folder.parent / "capture.log").read_text()
    assert b"S3CRET" not in receiver.ask("GET", "/metrics")[2]


def test_one_receiver_has_a_home(receiver: Receiver, home: SmallHome):
    second = home.run("capture")
    assert (second.returncode, second.stdout) == (1, "")
    assert f"`slowwave capture` (process {receiver.process.pid} on " in second.stderr
    assert "takes rows into" in second.stderr
    leading_there = SmallHome(home.folder.parent / "leading-there")
    leading_there.folder.mkdir()
    (leading_there.folder / "inbox").symlink_to(home.settings.inbox)
    third = leading_there.run("capture")  # which would merge the files of the first, and it those of this
    assert (third.returncode, third.stdout) == (1, "")
    assert "the receiver of another home takes rows into" in third.stderr
    taken = SmallHome(home.folder.parent / "another").run("capture", "--port", str(receiver.port))
    assert (taken.returncode, taken.stdout) == (1, "")
    assert "cannot be used" in taken.stderr


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--host", EVERYWHERE], "a token is needed first"),
        (["--host", EVERYWHERE, "--behind-proxy"], "a token is needed first"),
        (["--behind-proxy"], "a token is needed first"),
        (["--tls-cert", "cert.pem"], "go together"),
        (["--tls-cert", "none.pem", "--tls-key", "none.pem"], "is no file"),
    ],
)
def test_it_is_not_opened_to_others_without_a_token(options: list[str], why: str, tmp_path: Path):
    done = SmallHome(tmp_path / "home").ask("capture", *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert why in done.stderr


def test_it_is_not_opened_to_others_without_tls_nor_to_the_names_of_others(tmp_path: Path):
    home = SmallHome(tmp_path / "home")
    token = add_token(home.settings, "api", "capture", "shop")
    assert "--tls-cert" in home.ask("capture", "--host", EVERYWHERE).stderr
    with receiving(home.folder, "--host", EVERYWHERE, "--behind-proxy", "--allow-host", "Logs.example") as receiver:
        assert receiver.post("/interactions", ROW, Host="logs.example")[0] == 401
        assert receiver.post("/interactions", ROW, token=token, Host="logs.example")[0] == 200
        assert receiver.post("/interactions", ROW, token=token, Host="evil.example")[0] == 421


def test_tls_of_its_own(tmp_path: Path):
    home = SmallHome(tmp_path / "home")
    token = add_token(home.settings, "api", "capture", "shop")
    made = subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.pem",
         "-days", "1", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
        cwd=tmp_path, capture_output=True, check=False,
    )  # fmt: skip
    if made.returncode:
        pytest.skip("openssl makes no certificate here")
    files = ["--tls-cert", str(tmp_path / "cert.pem"), "--tls-key", str(tmp_path / "key.pem")]
    with receiving(home.folder, "--host", EVERYWHERE, *files) as receiver:
        assert receiver.url.startswith("https://")
        trusted = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
        raw = socket.create_connection(("127.0.0.1", receiver.port))
        with trusted.wrap_socket(raw, server_hostname="localhost") as safe:
            body = json.dumps(ROW)
            head = f"POST /interactions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"
            safe.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())
            assert b" 200 " in safe.recv(1000).split(b"\r\n")[0]


def test_posting_goes_on_while_the_inbox_is_landed(tmp_path: Path):
    home = SmallHome(tmp_path / "home")
    stopped = threading.Event()
    ids: list[str] = []

    with receiving(home.folder) as receiver:

        def post() -> None:
            while not stopped.is_set():
                ids.extend(receiver.post("/interactions", [ROW, ROW])[1]["ids"])

        threads = [threading.Thread(target=post) for _ in range(4)]
        for thread in threads:
            thread.start()
        for _ in range(3):
            done = home.run("land")
            assert done.returncode == 0, done.stderr
            time.sleep(0.2)
        stopped.set()
        for thread in threads:
            thread.join()
        assert receiver.stop() in {0, 130}
    assert home.run("land").returncode == 0
    assert len(set(ids)) == len(ids) > 0
    counts = Lake(home.settings.lake_folder).ledger(RunFiles)
    assert (counts["accepted"].sum(), counts["duplicate"].sum(), counts["quarantined"].sum()) == (len(ids), 0, 0)
    told = home.ask("sql", "SELECT interaction_id FROM interactions_log", "--format", "json").stdout
    assert sorted(row["interaction_id"] for row in json.loads(told)) == sorted(ids)


def test_what_was_posted_is_in_the_next_publish(receiver: Receiver, home: SmallHome):
    (known,) = receiver.post("/interactions", {"prompt": "In the next publish?"})[1]["ids"]
    receiver.post("/memories", {"memory_id": "m-next", "content": "Lint before pushing.", "status": "active"})
    home.nightly()
    told = home.ask("sql", "SELECT interaction_id FROM interactions", "--format", "json")
    assert [row["interaction_id"] for row in json.loads(told.stdout)].count(known) == 1
    told = home.ask("sql", "SELECT memory_id FROM memory_health WHERE memory_id = 'm-next'", "--format", "json")
    assert json.loads(told.stdout) == [{"memory_id": "m-next"}]


def test_it_loads_no_prefect_nor_what_computes(tmp_path: Path):
    code = (
        "import sys\n"
        "from slowwave.flows.cli.main import main\n"
        "try:\n    main(['capture', '--until-input-ends'])\nexcept SystemExit:\n    pass\n"
        "loaded = {name.split('.')[0] for name in sys.modules}\n"
        "print(sorted(loaded & {'uvicorn', 'prefect', 'numba', 'scipy', 'streamlit', 'duckdb'}))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "SLOWWAVE_HOME": str(tmp_path / "home")},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == "['uvicorn']", done
