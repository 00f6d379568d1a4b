"""The morning report of real publishes: what stands in it, that nothing in it is obeyed, and that it stays the same."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from base64 import b64decode
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import duckdb
import pytest
from attic_rows import PARAMS, attic_decisions, attic_rows
from hostile_rows import BIDI, PROJECT, TEXTS, hostile_rows
from small_home import SmallHome, interaction, memory
from taught_rows import AS_OF, taught_rows
from thorough import examples

from slowwave.dashboards.cookbook.cookbook import cookbook
from slowwave.dashboards.report.page import report_html
from slowwave.flows.ask.connection import locked_connection
from slowwave.flows.decide.decisions import land_decisions
from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.lake.lake import Lake

# What a browser would fetch, or run.
LOADING = {"src", "srcset", "href", "xlink:href", "action", "formaction", "data", "poster", "background", "ping"}
ACTIVE = {"script", "iframe", "object", "embed", "form", "base", "link", "foreignobject", "input", "button"}
VOID = {"meta", "br", "hr", "wbr", "img"}
LIMIT = 2_000_000
MORE = {
    "controls": "before\x00after a null byte, and before\u2028after a separator of lines",
    "address": "http://evil.example/x.png and https://evil.example/y.js are addresses" + " and so on" * 100_000,
    "markup": "</style><style>*{display:none}</style> &lt;b&gt; &#x3c;i&#x3e; ]]> --> <!-- <![CDATA[",
    "template": "{{ 7 * 7 }} {% raw %} is no template",
}


class Page(HTMLParser):
    """Elements, attributes, headings and text of a page, as a browser's parser finds them."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.headings: list[tuple[int, str]] = []
        self.open: list[str] = []
        self.pieces: list[str] = []
        self.feed(html)
        self.close()
        self.text = " ".join(" ".join(self.pieces).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)
        if re.fullmatch("h[1-6]", tag):
            self.headings.append((int(tag[1]), ""))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" in self.open:
            return
        self.pieces.append(data)
        if self.open and re.fullmatch("h[1-6]", self.open[-1]):
            level, said = self.headings[-1]
            self.headings[-1] = (level, said + data)

    def of(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.elements if name == tag]


def html_of(path: Path) -> str:
    with locked_connection(path) as connection:
        return report_html(connection, path.stem)


def current(home: SmallHome) -> Path:
    return home.settings.current.resolve()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("report")


@pytest.fixture(scope="module")
def hostile(folder: Path) -> SmallHome:
    home = SmallHome(folder / "hostile")
    more = [
        memory(name, status="candidate", content=text, project="http://evil.example/") for name, text in MORE.items()
    ]
    broken = [f'{{"prompt": "{name}", "created_at": "{name}"' for name in ("<b>", "http://evil.example")]
    home.land(*hostile_rows(), *more, *broken, memory("refused", confidence=7, content=PROJECT))
    home.nightly()
    return home


@pytest.fixture(scope="module")
def hostile_html(hostile: SmallHome) -> str:
    return html_of(current(hostile))


@pytest.fixture(scope="module")
def taught(folder: Path) -> SmallHome:
    """A publish in which everything is known: harmful memories, anti-patterns, a plan, graded forecasts."""
    home = SmallHome(folder / "taught")
    home.folder.mkdir()
    home.settings.params_file.write_text(PARAMS)
    home.land(*attic_rows())
    with writer_lock(home.settings, "forget apply"):
        land_decisions(Lake(Path(home.settings.lake)), attic_decisions())
    home.land(*taught_rows(), memory("m1", confidence=2))
    home.nightly(AS_OF)
    return home


@pytest.fixture(scope="module")
def taught_html(taught: SmallHome) -> str:
    return html_of(current(taught))


@pytest.fixture(scope="module")
def empty_html(folder: Path) -> str:
    home = SmallHome(folder / "empty")
    home.nightly()
    return html_of(current(home))


@pytest.fixture(params=["hostile_html", "taught_html", "empty_html"])
def html(request: pytest.FixtureRequest) -> str:
    return request.getfixturevalue(request.param)


# ---------------------------------------------------------------------------------------------------- nothing is obeyed


def test_nothing_in_a_report_runs_or_loads(html: str) -> None:
    page = Page(html)
    assert page.open == []
    assert not {name for name, _ in page.elements} & ACTIVE
    assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]
    loads = [value for _, attributes in page.elements for name, value in attributes.items() if name in LOADING]
    assert all(re.fullmatch(r"data:image/svg\+xml;base64,[\w+/=]+", value) for value in loads)
    assert not any(b"<script" in b64decode(value.partition(",")[2]) for value in loads)
    assert not re.search(r"url\((?!#)|@import", html)
    (policy,) = [each["content"] for each in page.of("meta") if each.get("http-equiv") == "Content-Security-Policy"]
    assert policy == "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def test_hostile_texts_are_text(hostile_html: str) -> None:
    text = Page(hostile_html).text
    shown = [name for name, content in {**TEXTS, **MORE}.items() if " ".join(content.split())[:60] in text]
    assert shown
    assert BIDI not in hostile_html
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", hostile_html)


def test_a_megabyte_of_text_is_shortened(hostile_html: str) -> None:
    assert len(hostile_html) < LIMIT / 10


# ------------------------------------------------------------------------------------------------------- what is in it


def test_every_table_and_list_names_the_recipe_that_gives_it_again(html: str) -> None:
    said = re.findall(r'<p class="asked">Ask for it whole: <code>slowwave sql ([^\s<]+)', html)
    recipes = set(cookbook())
    assert all(name in recipes for name in said)
    assert html.count('<p class="asked">') == html.count("<table>") + html.count('<ol class="items"')


def test_headings_are_in_order_and_links_lead_somewhere(html: str) -> None:
    page = Page(html)
    levels = [level for level, _ in page.headings]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(below <= above + 1 for above, below in pairwise(levels))
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {"changed", "review", "forget", "failing", "landed", "act"} <= set(ids)


def test_the_first_screen_is_six_answers_and_the_rest_is_folded(html: str) -> None:
    page = Page(html)
    questions = [said for level, said in page.headings if level == 2]
    assert questions == [
        "Do memories help?",
        "Are they used?",
        "What do they cost?",
        "What is ignored?",
        "What keeps failing?",
        "What shall I do now?",
    ]
    shown = re.sub(r"<(style|details).*?</\1>", "", html, flags=re.DOTALL)
    assert len(Page(shown).text.split()) <= 200
    assert len(page.text.split()) <= 1500
    assert not any("open" in attributes for attributes in page.of("details"))


def test_a_page_for_screen_readers_paper_and_night(html: str) -> None:
    page = Page(html)
    assert page.of("html") == [{"lang": "en"}]
    assert {"header", "main", "footer"} <= {name for name, _ in page.elements}
    for svg in page.of("svg"):
        assert svg["role"] == "img"
        assert len(svg["aria-label"]) > 20
    assert all(each.get("scope") == "col" for each in page.of("th"))
    assert "@media print" in html
    assert "prefers-color-scheme: dark" in html
    assert 'name="color-scheme" content="light dark"' in html


def test_what_to_act_on_comes_first_with_its_command(taught: SmallHome, taught_html: str) -> None:
    page = Page(taught_html)
    first = page.text.partition("How this was made")[0]
    for said in (
        "Needs 20 attempts with a memory and 20 without, in five sessions each.",
        "Reject 1 harmful memory slowwave review show ",
        "Replace 1 failing strategy slowwave sql costliest_anti_patterns",
        "slowwave why 'bad advice'",
        "Compared with interactions from which it was left out at random.",
        "slowwave why 'restart the server'",
        "Best so far: “free the port”.",
        "slowwave forget apply --dry-run",
    ):
        assert said in first
    with duckdb.connect(current(taught), read_only=True) as connection:
        item = connection.execute("SELECT item_id FROM review_queue ORDER BY rank LIMIT 1").fetchall()[0][0]
    assert f"slowwave review show {item}" in page.text


def test_an_empty_home_is_told_what_is_missing(empty_html: str) -> None:
    page = Page(empty_html)
    assert not page.of("img")
    assert page.text.count("once memories_used is logged.") == 2
    for said in (
        "No attempt is known: log success with each interaction.",
        "No memory is known: slowwave import reads several stores.",
        "Log what the other tiles name.",
    ):
        assert said in page.text


def test_methods_and_hashes_of_the_run_are_named(taught: SmallHome, taught_html: str) -> None:
    run_id = current(taught).stem
    with duckdb.connect(current(taught), read_only=True) as connection:
        query = "SELECT methods, input_hash, params_hash, code_hash FROM runs WHERE run_id = $id"
        ((methods, *hashes),) = connection.execute(query, {"id": run_id}).fetchall()
    text = Page(taught_html).text
    assert all(each in text for each in [run_id, ", ".join(methods), *hashes])


# ------------------------------------------------------------------------------------------------- always, and the same


@pytest.mark.slow
def test_the_same_run_gives_the_same_bytes_in_another_process(taught: SmallHome, taught_html: str) -> None:
    code = (
        "import sys; from pathlib import Path; import duckdb\n"
        "from slowwave.dashboards.report.page import report_html\n"
        "path = Path(sys.argv[1])\n"
        "with duckdb.connect(path, read_only=True, config={'threads': 1}) as connection:\n"
        "    sys.stdout.buffer.write(report_html(connection, path.stem).encode())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(current(taught))],
        env={**os.environ, "PYTHONHASHSEED": "7", "TZ": "Pacific/Auckland", "LC_ALL": "C"},
        capture_output=True,
        check=True,
    )
    assert done.stdout == taught_html.encode()


@pytest.fixture
def without(taught: SmallHome, tmp_path: Path) -> Iterator[tuple[duckdb.DuckDBPyConnection, str]]:
    """A copy of a serving file to take things out of, and its run."""
    path = tmp_path / current(taught).name
    path.write_bytes(current(taught).read_bytes())
    with duckdb.connect(path) as connection:
        yield connection, path.stem


@pytest.mark.parametrize("table", ["landed_days", "review_queue", "memory_health"])
def test_a_table_that_is_missing_leaves_the_rest(
    without: tuple[duckdb.DuckDBPyConnection, str], table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection, run_id = without
    connection.execute(f"DROP TABLE {table}")
    monkeypatch.setattr(
        "slowwave.dashboards.report.details.chart_svg", lambda *_: "<svg></svg>"
    )  # known by now, and slow
    page = Page(report_html(connection, run_id))
    assert "does not hold what" in page.text
    assert f"Run {run_id}, published" in page.text


def test_a_file_of_an_earlier_release_is_told_without_the_first_screen(
    without: tuple[duckdb.DuckDBPyConnection, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    connection, run_id = without
    connection.execute("DROP TABLE attempts_by_injection")
    monkeypatch.setattr("slowwave.dashboards.report.details.chart_svg", lambda *_: "<svg></svg>")  # as above
    page = Page(report_html(connection, run_id))
    assert "another version of Slowwave made it" in page.text
    assert not [said for level, said in page.headings if level == 2]


def test_a_file_without_the_run_is_refused(without: tuple[duckdb.DuckDBPyConnection, str]) -> None:
    with pytest.raises(ValueError, match="does not hold run nobody"):
        report_html(without[0], "nobody")


@pytest.mark.slow
def test_a_report_of_very_many_memories_stays_below_the_limit(folder: Path) -> None:
    home = SmallHome(folder / "many")
    text = "a memory of some length that says what it says at some length " * 2
    days = [f"2026-03-{day:02}T09:00:00Z" for day in range(2, 12)]
    rows = [memory(f"m{n}", content=f"{n} {text}", project=f"p{n % 1000}") for n in range(examples(20_000, 100_000))]
    home.land(*rows, *(interaction(f"i{n}", created_at=day, project=f"p{n}") for n, day in enumerate(days)))
    home.nightly()
    assert len(html_of(current(home)).encode()) < LIMIT / 4
