"""The dashboard's overview, explorer and page of one memory, as Streamlit draws them from a small publish."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from html import unescape
from pathlib import Path

import duckdb
import polars as pl
import pytest
from small_home import SmallHome, interaction, memory, outcome
from streamlit import cache_data
from streamlit.testing.v1 import AppTest

from slowwave.dashboards import app
from slowwave.dashboards.links import memory_link, project_view, view
from slowwave.dashboards.pages.memories import memories_page
from slowwave.dashboards.pages.memory import memory_page, use
from slowwave.dashboards.pages.overview import overview_page
from slowwave.dashboards.published import Published
from slowwave.dashboards.questions import strategy_to_use
from slowwave.dashboards.widgets import csv_of, first_of

SCRIPT = Path(__file__).parents[2] / "flows" / "dashboard_script.py"
HOSTILE = "**b** <img src=x onerror=alert(1)> :red[x] $x$ [l](http://x) </script> \x1b[31m \u202e =1+1"
AS_OF = datetime(2026, 3, 20)  # noqa: DTZ001 - UTC, as the flows take it
LONG = "A word of a very long text. " * 40_000


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> SmallHome:
    home = SmallHome(tmp_path_factory.mktemp("dashboard") / "home")
    used = {"memories_used": ["m1", "m2"], "response": memory("m1")["content"], "success": True, "strategy": "look"}
    home.land(
        memory("m1", memory_type="preference", confidence=0.5),
        memory("m2", content=HOSTILE, project=HOSTILE, memory_type="preference"),
        memory("m3", status="archived", project=""),
        memory("100%_sure", content="An id with what patterns are made of."),
        memory("long", content=LONG),
        memory(HOSTILE, content="Its id is hostile."),
        *(interaction(f"i{n}", created_at=f"2026-03-{n + 2:02}T09:00:00Z", **used) for n in range(8)),
        interaction("i9", memories_used=["never landed"]),
        outcome("o1", interaction_id="i3", created_at="2026-03-12T09:00:00Z", success=False, strategy="look"),
    )
    home.nightly(AS_OF)
    return home


@pytest.fixture(scope="module")
def published(home: SmallHome) -> Iterator[Published]:
    found = Published(home.settings.current.resolve())
    yield found
    found.close()


def script(page, published):
    """Streamlit runs this function's text: it knows nothing of this module."""
    page(published)


def drawn(page: Callable[[Published], None], published: Published, chosen: Mapping[str, str]) -> AppTest:
    session = AppTest.from_function(script, kwargs={"page": page, "published": published}, default_timeout=60)
    session.query_params.update(chosen)
    session.run()
    assert not session.exception
    return session


def html(session: AppTest) -> str:
    return "\n".join(element.proto.body for element in session.get("html"))


def text(session: AppTest) -> str:
    """What a person reads in the parts that hold text from logs."""
    return unescape(re.sub(r"<[^>]*>", "", html(session)))


def listed(session: AppTest) -> list[str]:
    """The ids in the explorer's table."""
    return [unescape(found) for found in re.findall(r'href="memory\?[^"]*"[^>]*><bdi>(.*?)</bdi>', html(session))]


def test_explorer_lists_every_memory(published: Published) -> None:
    session = drawn(memories_page, published, {})
    assert sorted(found for found in listed(session) if len(found) < 20) == [
        "100%_sure",
        "long",
        "m1",
        "m2",
        "m3",
        "never landed",
    ]
    assert "1 to 7 of 7 memories" in text(session)


@pytest.mark.parametrize(
    ("chosen", "found"),
    [
        ({"search": "INTEGERS"}, ["m1", "m3"]),
        ({"search": "100%_"}, ["100%_sure"]),
        ({"search": "%"}, ["100%_sure"]),
        ({"project": HOSTILE}, ["m2"]),
        ({"status": "archived"}, ["m3"]),
        ({"status": "never landed"}, ["never landed"]),
        ({"no_project": "yes"}, ["m3", "never landed"]),
        ({"project": "sho_"}, []),
        ({"type": "preference", "sort": "memory_id"}, ["m1", "m2"]),
        ({"verdict": "no such verdict", "search": "m1"}, ["m1"]),
        ({"page": "999999999999", "search": "m1"}, ["m1"]),
        ({"page": "²", "search": "m1"}, ["m1"]),
    ],
)
def test_explorer_filters_by_address(published: Published, chosen: dict[str, str], found: list[str]) -> None:
    assert sorted(listed(drawn(memories_page, published, chosen))) == found


def test_choices_are_written_to_address(published: Published) -> None:
    session = drawn(memories_page, published, {"page": "3"})
    session.text_input(key="typed_search").set_value("coin").run()
    assert session.query_params["search"] == "coin"
    assert "page" not in session.query_params
    session.selectbox(key="choice_status").set_value("archived").run()
    session.selectbox(key="choice_project").set_value("").run()
    assert session.query_params["no_project"] == "yes"
    assert listed(session) == ["m3"]
    session.selectbox(key="choice_project").set_value(HOSTILE).run()
    assert session.query_params["project"] == HOSTILE
    assert "no_project" not in session.query_params


def test_rows_are_downloaded_safe_for_spreadsheets(published: Published) -> None:
    rows = published.answer("memory_explorer", sort="memory_id")
    cells = list(csv.reader(io.StringIO(csv_of(rows))))
    assert cells[0] == rows.columns
    assert len(cells) == rows.height + 1
    formulas = pl.DataFrame({"=content": ["=1+1", "@cmd", "a,b"], "days": [["=x"], None, []]})
    assert list(csv.reader(io.StringIO(csv_of(formulas)))) == [
        ["'=content", "days"],
        ["'=1+1", '["=x"]'],
        ["'@cmd", ""],
        ["a,b", "[]"],
    ]


@pytest.mark.parametrize("memory_id", ["m1", "m2", "m3", "never landed", "long", HOSTILE])
def test_memory_page_says_what_why_says(home: SmallHome, published: Published, memory_id: str) -> None:
    counts = json.loads(home.run("why", memory_id, "--format", "json").stdout)["counts"]
    session = drawn(memory_page, published, {"memory_id": memory_id})
    shown = re.findall(r'sw-value">([\d,]+)</span> <span class="sw-label">(\w+)</span>', html(session))
    assert {name: int(value.replace(",", "")) for value, name in shown} == counts


@pytest.mark.parametrize(
    ("counted", "name"),
    [("injected", "injected"), ("echoed", "echoed"), ("referenced", "references"), ("confirmed", "confirmed"),
     ("contradicted", "contradicted")],
)  # fmt: skip
def test_memory_page_lists_interactions_behind_a_count(
    home: SmallHome, published: Published, counted: str, name: str
) -> None:
    behind = json.loads(home.run("why", "m1", "--format", "json").stdout)[name]
    shown = text(drawn(memory_page, published, {"memory_id": "m1", "counted": counted}))
    assert behind
    assert re.findall(r"\bi\d\b", shown) == [row["interaction_id"] for row in behind]


def test_memory_page_gives_reasons_first(published: Published) -> None:
    session = drawn(memory_page, published, {"memory_id": "m1"})
    reasons = published.answer("why_verdict", memory_id="m1")["reason"].to_list()
    headings = [header.value for header in session.header]
    assert headings[:2] == ["What it says", f"Verdict: {published.answer('memory', memory_id='m1')['verdict'][0]}"]
    assert all(reason in text(session) for reason in reasons)


def test_memory_page_shortens_a_long_text(published: Published) -> None:
    session = drawn(memory_page, published, {"memory_id": "long"})
    assert len(html(session)) < 100_000
    assert f"of {len(LONG):,} characters" in text(session)
    assert "Download the whole text" in [button.proto.label for button in session.get("download_button")]


def test_unknown_memory_is_offered_near_ones(published: Published) -> None:
    session = drawn(memory_page, published, {"memory_id": "lon"})
    assert "no memory lon is known" in text(session)
    assert listed(session) == ["long"]
    assert "No id is like it" in text(drawn(memory_page, published, {"memory_id": "zzzzzzzzzz"}))


@pytest.mark.parametrize("page", [overview_page, memories_page, memory_page])
def test_hostile_text_is_shown_as_text(published: Published, page: Callable[[Published], None]) -> None:
    session = drawn(page, published, {"project": HOSTILE, "memory_id": "m2", "question": "hurting"})
    assert "<img" not in html(session)
    assert "onerror=alert(1)&gt;" in html(session)
    assert "\x1b" not in html(session)
    assert "\u202e" not in html(session)
    kinds = ("markdown", "caption", "title", "header", "subheader")
    assert not any("onerror" in str(element) for kind in kinds for element in session.get(kind))
    labels = [
        box.proto.label for box in [*session.get("selectbox"), *session.get("text_input"), *session.get("button")]
    ]
    assert not any("onerror" in label for label in labels)


@pytest.mark.parametrize("question", ["hurting", "worse", "forget", "strategy", "calibration"])
def test_questions_are_answered_at_their_address(published: Published, question: str) -> None:
    session = drawn(overview_page, published, {"question": question})
    assert re.search(rf'href="\./\?question={question}"[^>]*aria-current="true"', html(session))
    assert len(session.subheader) == 1
    assert "slowwave sql" in text(session)


def test_overview_counts_memories(published: Published) -> None:
    session = drawn(overview_page, published, {"project": "shop"})
    verdicts = published.answer("memories_by_verdict", project="shop")["memories_count"].sum()
    assert f"{verdicts} active memories" in text(session)
    assert verdicts == 4


def test_questions_stand_before_everything_but_the_project(published: Published) -> None:
    session = drawn(overview_page, published, {"question": "worse"})
    body = html(session)
    assert session.header[0].value == "Questions to begin with"
    assert body.index("sw-questions") < body.index("slowwave sql got_worse") < body.index("sw-figures")


def test_a_project_is_told_from_all(published: Published) -> None:
    shop = drawn(overview_page, published, {"project": "shop"})
    (status,) = published.answer("project_health", project="shop")["status"]
    assert f"It is {status}, with no alarms." in text(shop)
    whose = "Of all projects together, as forecasts are not graded for one alone."
    assert whose in text(shop)
    assert whose not in text(drawn(overview_page, published, {}))


def strategies(*names: str) -> pl.DataFrame:
    return pl.DataFrame(
        [
            {"project": name, "agent": "", "task_type": "git", "strategy": f"look in {name}", "confidence": 0.7}
            | {"confidence_low": 0.6, "confidence_high": 0.8, "attempts": 9, "strategies_tried": 1}
            | {"is_reliable": True}
            for name in names
        ]
    )


def test_the_strategy_to_use_says_whose_it_is() -> None:
    one = strategy_to_use(strategies("shop"), 1, "")
    assert "among 1 tried strategy: “look in shop” (shop / git)" in one
    assert "Reliable. It is the only one tried there, which is no choice." in one
    several = strategy_to_use(strategies("shop", "barn"), 2, "")
    assert "look in" not in several
    assert "choose a kind of task, and a project" in several
    assert "The highest of 2 answers" in strategy_to_use(strategies("shop", "barn"), 2, "git")


def test_a_caption_says_how_many_of_how_many_are_shown() -> None:
    assert first_of("All", 2, 2) == "All"
    assert first_of("Some", 2, 3) == "Some; the first 2 of 3, the command gives all"


def test_folded_filters_open_when_one_is_chosen(published: Published) -> None:
    assert not drawn(memories_page, published, {"search": "m1"}).expander[0].proto.expanded
    assert drawn(memories_page, published, {"status": "archived"}).expander[0].proto.expanded


def test_fading_in_the_far_future_is_no_day(published: Published) -> None:
    memory = {**published.answer("memory", memory_id="m1").row(0, named=True)}
    near, far = ({**memory, "fades_at": AS_OF + timedelta(days=days)} for days in (366, 367))
    assert "fades without a new reference on 2027-03-21" in use(near)
    assert use(far).endswith("Without a new reference it does not fade within a year.")
    assert "2027" not in use(far)


def test_an_empty_publish_says_what_to_do(tmp_path: Path) -> None:
    home = SmallHome(tmp_path / "home")
    home.nightly(AS_OF)
    empty = Published(home.settings.current.resolve())
    said = text(drawn(overview_page, empty, {}))
    empty.close()
    assert "slowwave land PATH" in said
    assert "slowwave demo" in said


def test_an_earlier_instant_is_a_note(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = SmallHome(tmp_path / "home")
    home.land(memory("m1"), interaction("i1"))
    home.nightly(AS_OF)
    said = text(whole_app(monkeypatch, home.folder))
    assert "Note: shows what was known before 2026-03-20 00:00:00Z; as asked for; no interaction is newer" in said
    assert "slowwave nightly" not in said
    (home.folder / "demo.json").write_text('{"seed": 7, "days": 19}')
    cache_data.clear()
    assert "the sample logs end here" in text(whole_app(monkeypatch, home.folder))
    home.land(interaction("i2", created_at="2026-03-25T09:00:00Z"))
    (home.folder / "demo.json").unlink()
    cache_data.clear()
    assert "run slowwave nightly to publish what is known now" in text(whole_app(monkeypatch, home.folder))


def test_addresses() -> None:
    assert view("overview") == "./"
    assert view("overview", question="worse", project="") == "./?question=worse"
    assert project_view("memories", "", status="active") == "memories?no_project=yes&status=active"
    assert project_view("memories", None) == "memories"
    assert memory_link("a&b=c d/\n") == "memory?memory_id=a%26b%3Dc+d%2F%0A"


def whole_app(monkeypatch: pytest.MonkeyPatch, folder: Path) -> AppTest:
    monkeypatch.setenv("SLOWWAVE_HOME", str(folder))
    session = AppTest.from_file(str(SCRIPT), default_timeout=60).run()
    assert not session.exception
    return session


def test_nothing_published_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    session = whole_app(monkeypatch, tmp_path / "nowhere")
    assert session.title[0].value == "Nothing is published yet"
    assert "slowwave demo" in text(session)
    assert not (tmp_path / "nowhere").exists()


def test_damaged_file_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "serving" / "runs").mkdir(parents=True)
    (tmp_path / "serving" / "runs" / "r.duckdb").write_bytes(b"no database" * 1_000)
    (tmp_path / "serving" / "current.duckdb").symlink_to(Path("runs") / "r.duckdb")
    session = whole_app(monkeypatch, tmp_path)
    assert session.title[0].value == "The published tables cannot be read"
    assert "slowwave doctor" in text(session)


def test_new_publish_is_followed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = SmallHome(tmp_path / "home")
    home.land(memory("m1"))
    first = home.nightly(AS_OF).run_id
    session = whole_app(monkeypatch, home.folder)
    assert f"Run {first}" in text(session)
    assert "1 active memory" in text(session)
    home.land(memory("m2", changed_at="2026-03-19T08:00:00Z"))
    second = home.nightly(AS_OF, full=True).run_id
    session.run()
    assert f"Run {second}" in text(session)
    assert "2 active memories" in text(session)


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
    assert "could not be drawn: Catalog Error: **b** <img" in text(session)
    assert "<img" not in html(session)


@contextmanager
def served(folder: Path, port: int) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "slowwave.flows.cli", "dashboard", "--port", str(port)]
    nowhere = folder.parent / "user"
    nowhere.mkdir(exist_ok=True)
    environment = {**os.environ, "SLOWWAVE_HOME": str(folder), "HOME": str(nowhere)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, cwd=nowhere
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == f"http://127.0.0.1:{port}\n"
            yield process
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
        with urllib.request.urlopen(asked, timeout=20) as answered:  # noqa: S310
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
    with served(home.folder, port) as process:
        for path in ("/", "/memories?search=x", "/memory?memory_id=m1"):
            assert status(port, path) == 200
        assert status(port, "/", Host="rebound.example") == 403
        assert status(port, "/", Host=f"rebound.example:{port}") == 403
        assert status(port, "/_stcore/health", Origin="http://other.example") == 403
        assert status(port, "/_stcore/stream", **UPGRADE, Origin="http://other.example") == 403
        assert (
            status(port, "/_stcore/stream", **UPGRADE, Host="rebound.example", Origin="http://rebound.example") == 403
        )
        second = home.run("dashboard", "--port", str(port))
        assert (second.returncode, second.stdout) == (1, "")
        assert "choose --port" in second.stderr
        process.send_signal(signal.SIGTERM)
        out, error = process.communicate(timeout=20)
        assert (process.returncode, out, error) == (128 + signal.SIGTERM, "", "")


@pytest.mark.slow
def test_server_is_stopped_by_ctrl_c(tmp_path: Path) -> None:
    port = free_port()
    with served(tmp_path / "home", port) as process:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
        assert process.returncode == 130
    assert not (tmp_path / "home").exists()
