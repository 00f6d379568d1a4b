"""The dashboard whole: what it says when nothing can be shown, a new publish, its server and its end."""

from __future__ import annotations

import http.client
import os
import shutil
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import duckdb
import pytest
from drawn_pages import IGNORED, bodies, drawn, words
from released_homes import released_home
from shared_homes import plain_home
from small_home import SmallHome, interaction, memory
from streamlit import cache_data
from streamlit.testing.v1 import AppTest

from slowwave.dashboards.app import app
from slowwave.dashboards.cookbook.published import Published
from slowwave.flows.ask.narrowed import Narrowed
from slowwave.flows.kernel.times import utc_now

pytestmark = pytest.mark.filterwarnings(IGNORED)

SCRIPT = Path(__file__).parents[3] / "flows" / "cli" / "dashboard_script.py"
HOSTILE = "**b** <img src=x onerror=alert(1)> :red[x] </script> \x1b[31m"
AS_OF = datetime(2026, 3, 20)  # noqa: DTZ001 - UTC, as the flows take it


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> SmallHome:
    return plain_home(tmp_path_factory.mktemp("dashboard") / "home", AS_OF)


def whole_app(monkeypatch: pytest.MonkeyPatch, folder: Path) -> AppTest:
    monkeypatch.setenv("SLOWWAVE_HOME", str(folder))
    session = AppTest.from_file(str(SCRIPT), default_timeout=600).run()
    assert not session.exception
    return session


def test_an_earlier_instant_is_a_note(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = plain_home(tmp_path / "home", AS_OF)
    said = words(whole_app(monkeypatch, home.folder))
    assert "Note: these tables stop at an earlier time: as asked for; no interaction is newer" in said
    assert "slowwave nightly" not in said
    assert "Data up to 2026-03-02 09:00 UTC" in said  # of the newest interaction, not of the tables
    (home.folder / "demo.json").write_text('{"seed": 7, "days": 19}')
    cache_data.clear()
    assert "the sample logs end here" in words(whole_app(monkeypatch, home.folder))
    home.land(interaction("i2", created_at="2026-03-25T09:00:00Z"))
    (home.folder / "demo.json").unlink()
    cache_data.clear()
    assert "run slowwave nightly to publish what is known now" in words(whole_app(monkeypatch, home.folder))
    for file in (home.folder / "lake" / "interactions" / "day=2026-03-25").iterdir():
        file.write_bytes(b"damaged")
    cache_data.clear()
    assert "these tables stop at an earlier time: as asked for" in words(whole_app(monkeypatch, home.folder))


def test_an_instant_or_a_publish_that_lies_ahead_is_a_warning(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = SmallHome(tmp_path / "home")
    home.land(memory("m1"), interaction("i1"))
    home.nightly(utc_now() + timedelta(days=40, hours=1))
    cache_data.clear()
    said = words(whole_app(monkeypatch, home.folder))
    assert "Warning: these tables show what was known before" in said
    assert "40 days ahead: memories and strategies are shown as old as they will be then" in said
    assert "run slowwave nightly to publish what is known now" in said
    home.nightly()
    assert "Warning: these tables" not in words(whole_app(monkeypatch, home.folder))
    monkeypatch.setattr(app, "utc_now", lambda: utc_now() - timedelta(days=40, hours=1))
    said = words(whole_app(monkeypatch, home.folder))
    assert "Warning: the clock was, or is, wrong: by it these tables are published in 40 days" in said


def test_a_current_that_leads_nowhere_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = plain_home(tmp_path / "home", AS_OF)
    run_id = home.settings.current.resolve().stem
    session = whole_app(monkeypatch, home.folder)
    current = home.settings.current
    for target in ("runs/gone.duckdb", "current.duckdb"):
        current.unlink()
        current.symlink_to(target)
        assert session.run().title[0].value == "The published tables cannot be read"
        assert "leads nowhere: run slowwave nightly" in words(session)
    home.nightly(AS_OF)
    assert session.run().title[0].value == "Overview"
    assert f"Run {run_id}" not in words(session)


def test_nothing_published_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    session = whole_app(monkeypatch, tmp_path / "nowhere")
    assert session.title[0].value == "Nothing is published yet"
    assert "slowwave demo" in words(session)
    assert not (tmp_path / "nowhere").exists()


def test_damaged_file_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "serving" / "runs").mkdir(parents=True)
    (tmp_path / "serving" / "runs" / "r.duckdb").write_bytes(b"no database" * 1_000)
    (tmp_path / "serving" / "current.duckdb").symlink_to(Path("runs") / "r.duckdb")
    session = whole_app(monkeypatch, tmp_path)
    assert session.title[0].value == "The published tables cannot be read"
    assert "slowwave doctor" in words(session)


def test_a_file_that_is_damaged_or_put_back_in_place_is_seen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = plain_home(tmp_path / "home", AS_OF)
    run_id = home.settings.current.resolve().stem
    serving = home.settings.current.resolve()
    session = whole_app(monkeypatch, home.folder)
    saved = Path(shutil.copy(serving, tmp_path / "saved.duckdb"))
    serving.write_bytes(b"no database" * 1_000)
    assert session.run().title[0].value == "The published tables cannot be read"
    saved.replace(serving)  # as from a backup: another file at the same path
    assert session.run().title[0].value == "Overview"
    assert f"Run {run_id}" in words(session)


def test_new_publish_is_followed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = plain_home(tmp_path / "home", AS_OF)
    first = home.settings.current.resolve().stem
    session = whole_app(monkeypatch, home.folder)
    assert f"Run {first}" in words(session)
    home.land(memory("m2", changed_at="2026-03-19T08:00:00Z"))
    second = home.nightly(AS_OF, full=True).run_id
    session.run()
    assert f"Run {second}" in words(session)


def test_failing_query_is_told(monkeypatch: pytest.MonkeyPatch, home: SmallHome, tmp_path: Path) -> None:
    def failing(_published: Published) -> None:
        message = f"Catalog Error: {HOSTILE}"
        raise duckdb.CatalogException(message)

    runs = tmp_path / "serving" / "runs"
    runs.mkdir(parents=True)
    shutil.copy(home.settings.current.resolve(), runs)
    (tmp_path / "serving" / "current.duckdb").symlink_to(Path("runs") / home.settings.current.resolve().name)
    monkeypatch.setitem(app.PAGES, "overview", ("Overview", failing))
    session = whole_app(monkeypatch, tmp_path)
    assert "could not be drawn: Catalog Error: **b** <img" in words(session)
    assert "<img" not in bodies(session)


@pytest.mark.parametrize(
    ("path", "about"), [("overview", Narrowed()), ("overview", Narrowed(user="ada")), ("review", Narrowed(tag="x"))]
)
def test_tables_of_an_earlier_release_are_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, about: Narrowed, path: str
) -> None:
    old = released_home("0.1.0", tmp_path)
    monkeypatch.setenv("SLOWWAVE_HOME", str(old.folder))
    with closing(Published(old.settings.current.resolve(), about)) as published:
        said = words(drawn(partial(app._draw_page, app.PAGES[path][1]), published, memory_id="m-deploy"))
    assert "this part of the page could not be drawn" in said
    assert "slowwave nightly publishes them anew" in said


@contextmanager
def served(folder: Path, port: int) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A dashboard that answers, and its token."""
    command = [sys.executable, "-m", "slowwave.flows.cli.main", "dashboard", "--port", str(port)]
    nowhere = folder.parent / "user"
    nowhere.mkdir(exist_ok=True)
    environment = {**os.environ, "SLOWWAVE_HOME": str(folder), "HOME": str(nowhere)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, cwd=nowhere
    ) as process:
        try:
            assert process.stdout is not None
            address, _, token = process.stdout.readline().strip().partition("?token=")
            assert (address, len(token)) == (f"http://127.0.0.1:{port}/", 32)
            yield process, token
        finally:
            process.kill()
            assert not list(nowhere.iterdir())


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def status(port: int, path: str, **headers: str) -> int:
    asked = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers=headers)
    try:
        with urllib.request.urlopen(asked, timeout=300) as answered:  # noqa: S310
            return answered.status
    except urllib.error.HTTPError as error:
        return error.code


UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "x3JJHMbDL1EzLkh9GBhXDw==",
}


@pytest.mark.slow
def test_server_answers_its_own_pages_alone_and_ends_quietly(home: SmallHome) -> None:
    port = free_port()
    with served(home.folder, port) as (process, token):
        known = {"Cookie": f"a=b; slowwave_{port}={token}"}
        for path in ("/", "/memories?search=x", "/memory?memory_id=m1"):
            assert status(port, path, **known) == 200
            assert status(port, path) == 403
            assert status(port, path, Cookie=f"slowwave_{port}={token}x") == 403
        assert status(port, f"/?token={token}x") == 403
        assert status(port, "/_stcore/health") == status(port, "/_stcore/stream", **UPGRADE) == 403
        own = f"http://127.0.0.1:{port}"
        assert status(port, "/_stcore/stream", **UPGRADE, Origin=own) == 403
        others = {f"{slashes}other.example/?": "/other.example/" for slashes in ("//", "/\\", "/\\/")}
        for path, leads_to in {"/memories?a=%20b&": "/memories?a=%20b", **others}.items():
            with closing(http.client.HTTPConnection("127.0.0.1", port)) as asking:
                asking.request("GET", f"{path}token={token}")
                answer = asking.getresponse()
                assert (answer.status, answer.headers["location"]) == (303, leads_to)
                assert answer.headers["set-cookie"] == f"slowwave_{port}={token}; Path=/; HttpOnly; SameSite=Lax"
        for given in (token, f"{token}x"):  # a cookie is known, and the token is a bookmark's
            with closing(http.client.HTTPConnection("127.0.0.1", port)) as asking:
                asking.request("GET", f"/memories?token={given}&search=x", headers=known)
                answer = asking.getresponse()
                assert (answer.status, answer.headers["location"]) == (303, "/memories?search=x")
                assert answer.headers["referrer-policy"] == "no-referrer"
        for path, method in (
            ("/", "POST"),
            ("/_stcore/upload_file/a/b", "PUT"),
            ("/_stcore/upload_file/a/b", "DELETE"),
        ):
            for origin in ("http://other.example", f"http://127.0.0.1:{port + 1}", "null"):
                with closing(http.client.HTTPConnection("127.0.0.1", port)) as asking:
                    asking.request(method, path, body=b"x=1", headers={**known, "Origin": origin})
                    assert asking.getresponse().status == 403, (method, origin)
        with closing(http.client.HTTPConnection("127.0.0.1", port)) as asking:
            asking.putrequest("GET", "/", skip_host=True)
            for host in (f"127.0.0.1:{port}", "rebound.example"):
                asking.putheader("Host", host)
            asking.putheader("Cookie", known["Cookie"])
            asking.endheaders()
            assert asking.getresponse().status in {400, 403}
        assert status(port, "/", Host="rebound.example", **known) == 403
        assert status(port, "/", Host=f"rebound.example:{port}", **known) == 403
        assert status(port, "/_stcore/health", Origin="http://other.example", **known) == 403
        assert status(port, "/_stcore/stream", **UPGRADE, Origin="http://other.example", **known) == 403
        assert (
            status(port, "/_stcore/stream", **UPGRADE, **known, Host="rebound.example", Origin="http://rebound.example")
            == 403
        )
        second = home.run("dashboard", "--port", str(port))
        assert (second.returncode, second.stdout) == (1, "")
        assert "choose --port" in second.stderr
        process.send_signal(signal.SIGTERM)
        out, error = process.communicate(timeout=300)
        assert (process.returncode, out, error) == (128 + signal.SIGTERM, "", "")


@pytest.mark.slow
def test_server_is_stopped_by_ctrl_c(tmp_path: Path) -> None:
    port = free_port()
    with served(tmp_path / "home", port) as (process, _):
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=300)
        assert process.returncode == 130
    assert not (tmp_path / "home").exists()
