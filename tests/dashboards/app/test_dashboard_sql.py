"""The SQL page: any query, and none that harms."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path

import duckdb
import polars as pl
import pytest
from drawn_pages import IGNORED, addresses_of, commands, drawn, grids, published_by, words
from small_home import SmallHome, interaction, memory

from slowwave.dashboards.app import sql_answers
from slowwave.dashboards.app.pages.sql import _params_of, sql_page
from slowwave.dashboards.app.sql_answers import SqlAnswer, SqlQuestion, first_rows, whole_result
from slowwave.dashboards.cookbook.cookbook import cookbook
from slowwave.flows.kernel.errors import UserError

pytestmark = [
    pytest.mark.filterwarnings(IGNORED),
    pytest.mark.slow,  # whole pages: continuous integration runs them; test_sql.py has what they ask for
]
FORMULA = "=1+1"


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    made = SmallHome(tmp_path_factory.mktemp("sql") / "home")
    made.land(memory("m1"), memory("m2", content=FORMULA), interaction("i1", memories_used=["m1"]))
    made.nightly(datetime(2026, 3, 5))  # noqa: DTZ001 - times are naive and hold UTC everywhere
    return made


@pytest.fixture(autouse=True)
def at_home(home, monkeypatch):
    monkeypatch.setenv("SLOWWAVE_HOME", str(home.folder))


@pytest.fixture(scope="module")
def published(home):
    opened = published_by(home)
    yield opened
    opened.close()


@pytest.fixture
def ask(published):
    def first(query: str, **values: str) -> SqlAnswer:
        return first_rows(SqlQuestion(published.path, query, values), lambda _: None)

    return first


def test_cells_are_exact_and_null_is_told_apart(ask):
    answer = ask(
        "SELECT 170141183460469231731687303715884105727 AS big, 0.1::DOUBLE AS tenth, 1.10::DECIMAL(4, 2) AS coins, "
        "TIMESTAMP '2026-03-01 08:00:00.000001' AS at, DATE '2026-03-01' AS day, NULL::INTEGER AS nothing, "
        "'' AS empty, true AS yes, [1, 2] AS numbers"
    )
    assert answer.cells == [
        [
            *("170141183460469231731687303715884105727", "0.1", "1.10", "2026-03-01T08:00:00.000001Z", "2026-03-01"),
            *(None, "", "true", "[1,2]"),
        ]
    ]
    frame = answer.frame()
    assert frame["at"].to_list() == [datetime(2026, 3, 1, 8, 0, 0, 1)]  # noqa: DTZ001
    assert frame.schema["day"] == pl.Date
    assert frame["coins"].to_list() == [1.1]
    assert [answer.is_number(at) for at in range(5)] == [True, True, True, False, False]


@pytest.mark.parametrize(
    ("rows", "shown", "count", "is_more"),
    [(0, 0, 0, False), (1_001, 1_000, 1_001, False), (100_000, 1_000, 100_000, False), (10**12, 1_000, 100_000, True)],
)
def test_the_first_rows_are_shown_and_some_more_counted(ask, rows, shown, count, is_more):
    answer = ask(f"FROM range({rows})")
    assert (len(answer.cells), answer.count, answer.is_more) == (shown, count, is_more)


def test_a_wide_result_is_refused_and_a_wider_one_shows_fewer_rows(ask):
    wide = "PIVOT range({columns}) ON range USING first(range)"
    with pytest.raises(UserError, match="201 columns"):
        ask(wide.format(columns=201))
    answer = ask(f"SELECT w.* FROM range(1000), ({wide.format(columns=200)}) AS w")  # noqa: S608 - a number
    assert (len(answer.names), len(answer.cells), answer.count) == (200, 200, 1000)


@pytest.mark.parametrize("dtype", ["UHUGEINT", "BIGNUM"])
def test_what_parquet_would_change_is_refused(published, dtype):
    question = SqlQuestion(published.path, f"SELECT 340282366920938463463374607431768211455::{dtype} AS big")
    with pytest.raises(UserError, match="cast it"):
        whole_result(question, "parquet")
    assert b"340282366920938463463374607431768211455" in whole_result(question, "csv")


def test_columns_of_one_name_and_long_texts_are_no_trouble(ask):
    answer = ask("SELECT 1 AS a, 2 AS a, repeat('x', 1000000) AS long, chr(27) || '[31m' AS terminal")
    assert answer.frame().columns == ["a", "a_2", "long", "terminal"]
    assert len(answer.cells[0][2] or "") == 300
    assert answer.cells[0][3] == "\\x1b[31m"


@pytest.mark.parametrize(
    "query",
    [
        query if at % 3 == 0 else pytest.param(query, marks=pytest.mark.slow)
        for at, query in enumerate(
            [
                "ATTACH 'other.db'",
                "COPY (SELECT 1) TO 'other.csv'",
                "FROM read_csv('/etc/passwd')",
                "FROM glob('/etc/*')",
                "SELECT getenv('HOME')",
                "INSTALL httpfs",
                "LOAD httpfs",
                "SET memory_limit = '100GB'",
                "RESET memory_limit",
                "PRAGMA threads = 8",
                "USE memory",
                "CREATE TABLE other AS SELECT 1",
                "DELETE FROM memory_health",
                "CREATE PERSISTENT SECRET s (TYPE s3)",
                "FROM 'https://example.com/a.parquet'",
            ]
        )
    ],
)
def test_nothing_outside_is_reached_and_nothing_changed(ask, home, query):
    before = home.contents()
    with pytest.raises(UserError):
        ask(query)
    assert home.contents() == before


def test_what_one_query_makes_no_other_sees(ask):
    assert ask("CREATE TEMP TABLE mine AS SELECT 1 AS a; SET VARIABLE v = 2; FROM mine").count == 1
    with pytest.raises(UserError, match="there is no table 'mine'"):
        ask("FROM mine")
    assert ask("SELECT getvariable('v') AS v").cells == [[None]]


@pytest.mark.parametrize("query", ["SELECT list(range) FROM range(10000000000)", "SELECT repeat('x', 3000000000)"])
def test_a_query_that_needs_too_much_memory_fails_alone(ask, query):
    with pytest.raises(UserError, match="Out of Memory"):
        ask(query)
    assert ask("SELECT 1").count == 1


def test_a_query_that_takes_too_long_is_stopped(published, monkeypatch):
    monkeypatch.setattr(sql_answers, "SECONDS", 1)
    with pytest.raises(UserError, match="stopped after 1 seconds"):
        first_rows(
            SqlQuestion(published.path, "SELECT count(*) FROM range(10000000000) a, range(1000) b"), lambda _: None
        )


def test_a_query_ends_with_who_waits_for_it(published, monkeypatch, tmp_path):
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # no child that waits has this environment
    monkeypatch.setattr("tempfile.tempdir", None)
    children = []
    start = sql_answers.subprocess.Popen
    monkeypatch.setattr(
        sql_answers.subprocess, "Popen", lambda *given, **kw: children.append(start(*given, **kw)) or children[-1]
    )

    def leave(seconds: float) -> None:
        if seconds > 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        first_rows(SqlQuestion(published.path, "SELECT count(*) FROM range(10000000000) a, range(1000) b"), leave)
    assert children[0].poll() == -9
    assert [child.poll() for child in children[1:]] == [None]  # that of the next question
    assert list(tmp_path.iterdir()) == []


def test_the_child_of_the_next_question_waits_and_is_of_its_own_home(published, monkeypatch, tmp_path):
    question = SqlQuestion(published.path, "SELECT count(*) FROM interactions")
    assert first_rows(question, lambda _: None).cells == [["1"]]
    [waiting] = sql_answers._waiting
    with pytest.raises(UserError, match="nowhere"):
        first_rows(SqlQuestion(published.path, "SELECT * FROM nowhere"), lambda _: None)
    assert first_rows(question, lambda _: None).cells == [["1"]]
    assert sql_answers._waiting == [waiting]  # it answered all three
    monkeypatch.setenv("SLOWWAVE_HOME", str(tmp_path))
    assert first_rows(question, lambda _: None).cells == [["0"]]


def test_a_child_that_was_ended_while_it_waited_is_replaced(ask):
    ask("SELECT 1")
    [waiting] = sql_answers._waiting
    waiting.process.kill()
    waiting.process.wait()
    assert ask("SELECT 1").cells == [["1"]]


def test_a_child_that_waits_ends_with_what_started_it():
    starts = "from slowwave.dashboards.app import sql_answers as s; s._keep_waiting(None); c = s._waiting[0].process"
    ended = subprocess.run(
        [sys.executable, "-c", f"{starts}; print(c.pid, flush=True); import os; os.kill(os.getpid(), 9)"],
        capture_output=True,
        text=True,
        check=False,
    )
    until = time.monotonic() + 60
    while Path(f"/proc/{int(ended.stdout)}").exists():
        assert time.monotonic() < until
        time.sleep(0.1)


def test_downloads_are_what_the_command_writes(published, home):
    question = SqlQuestion(published.path, "SELECT memory_id, content, eligible_count FROM memory_health ORDER BY ALL")
    rows = list(csv.reader(io.StringIO(whole_result(question, "csv").decode())))
    assert rows[2][:2] == ["m2", f"'{FORMULA}"]
    assert home.run("sql", question.query, "--format", "csv").stdout.encode() == whole_result(question, "csv")
    frame = pl.read_parquet(io.BytesIO(whole_result(question, "parquet")))
    assert frame["content"].to_list()[1] == FORMULA
    assert frame.schema["eligible_count"] == pl.Int64


def test_a_download_has_an_end(published, monkeypatch):
    monkeypatch.setattr(sql_answers, "MOST_BYTES", 2**20)
    with pytest.raises(UserError, match="larger than 1 MB"):
        whole_result(SqlQuestion(published.path, "FROM range(5000000)"), "csv")


def test_landed_rows_are_there_too(ask):
    assert ask("SELECT interaction_id FROM interactions").cells == [["i1"]]
    assert ask("SELECT count(*) FROM memories_log").cells == [["2"]]


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("SELCT 1", "syntax error"),
        ("FROM memory_healht", "did you mean memory_health"),
        ("most_refrenced", "neither SQL nor in the cookbook"),
        ("SELECT $x", "the query needs --param x"),
        ("-- nothing", "the query is empty"),
    ],
)
def test_an_error_says_what_is_wrong(ask, query, says):
    with pytest.raises(UserError, match=says):
        ask(query)


def test_a_recipe_shows_what_the_command_says(published, home, monkeypatch):
    leading = addresses_of(monkeypatch)
    app = drawn(sql_page, published, recipe="memories_of_project", with_project="shop")
    said = words(app)
    assert "2 rows, in" in said
    assert "memory:m1" in leading["Result"]["opens"]
    assert "slowwave sql memories_of_project --param project=shop --format parquet > result.parquet" in commands(app)
    assert len(app.get("download_button")) == 2
    listed = home.run("sql", "memories_of_project", "--param", "project=shop", "--format", "csv").stdout
    for row in csv.reader(io.StringIO(listed)):
        assert [text for text in row if text.removeprefix("'") not in said] == []


def test_what_is_asked_stands_in_the_address(published):
    app = drawn(sql_page, published)
    assert "memory_health" in words(app)
    app.text_area(key="sql_query").input("SELECT $name || '$none' AS said -- $nor")
    app.button[0].click().run()
    assert app.query_params["query"] == "SELECT $name || '$none' AS said -- $nor"
    assert "give a value for name" in words(app)
    app.text_input(key="with_name").input("Ada")
    app.button[0].click().run()
    assert app.query_params["with_name"] == "Ada"
    assert "Ada$none" in words(app)
    again = drawn(sql_page, published, query=app.query_params["query"], with_name="Ada")
    assert "Ada$none" in words(again)


def test_another_question_forgets_the_text_before(published):
    app = drawn(sql_page, published, query="SELECT 42 AS answer")
    assert "42" in words(app)
    app.selectbox(key="choice_recipe").select("verdicts").run()
    assert "query" not in app.query_params
    assert cookbook()["verdicts"].sql.endswith(f"{app.text_area(key='sql_query').value}\n")
    assert "2 rows, in" in words(app)


def test_a_very_long_query_is_asked_but_not_in_the_address(published):
    app = drawn(sql_page, published)
    query = f"SELECT 'here' AS said /* {'long ' * 1_000} */"
    app.text_area(key="sql_query").input(query)
    app.button[0].click().run()
    assert "query" not in app.query_params
    assert "will not ask it" in words(app)
    assert "1 row, in" in words(app)


def test_what_fails_is_told_on_the_page(published):
    said = words(drawn(sql_page, published, query="SELECT nothing_such FROM memory_health"))
    assert "nothing_such" in said
    assert "Traceback" not in said
    nothing = drawn(sql_page, published, query="SELECT NULL AS a")
    assert grids(nothing)["Result"].rows() == [(None,)]
    assert next(grid.proto.placeholder for grid in nothing.dataframe if grid.proto.alt == "Result") == "NULL"
    assert "No rows, in" in words(drawn(sql_page, published, query="FROM memory_health WHERE false"))


def test_params_are_found_as_duckdb_finds_them():
    with duckdb.connect() as connection:
        for recipe in cookbook().values():
            statements = connection.extract_statements(recipe.sql)
            named = {param for statement in statements for param in statement.named_parameters}
            assert {*_params_of(recipe.sql)} == named
    assert _params_of("SELECT '$a', \"$b\", $$ $c $$, $t$ '$d' $t$, $e, /* $f */ $e -- $g") == ["e"]


def test_the_child_is_told_what_it_needs_and_no_more():
    asked = SqlQuestion(Path("a"), "q", {"x": "y"}).as_json("csv")
    assert asked == '{"serving": "a", "query": "q", "values": {"x": "y"}, "output": "csv"}'
