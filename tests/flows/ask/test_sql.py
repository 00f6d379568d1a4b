"""`slowwave sql`: what it answers, in which form, and what no query can do."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from contextlib import redirect_stdout
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import polars as pl
import pytest
from each import each
from shared_homes import plain_home
from small_home import SmallHome, interaction, memory, outcome

from slowwave.flows.ask import sql
from slowwave.flows.ask.connection import OTHER_RELEASE
from slowwave.flows.cli import main as cli
from slowwave.flows.kernel.terminal import spreadsheet_safe
from slowwave.flows.lake.lake import COMPACT_FROM_FILES, Lake
from slowwave.flows.lake.views import LandedViews
from slowwave.transforms.graph import SERVING
from slowwave.transforms.landing.tables import Interactions

HOSTILE = "=cmd() \x1b[31mred\x1b[0m [red]markup[/red] \"double\" 'single'; DROP TABLE runs; -- \x00\x9b2J\u202e<b>"
FUTURE = "2999-01-01T00:00:00Z"
EVERYTHING_PUBLISHED = {table.name for table in SERVING}
LANDED_NAMES = {f"{name}{end}" for name in ("interactions", "outcomes", "memories") for end in ("", "_log")}


class Said(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def rows(self) -> list[dict[str, Any]]:
        assert self.code == 0, self.err
        return json.loads(self.out)


Ask = Callable[..., Said]


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> SmallHome:
    """Landed and published: two versions of one interaction, a hostile memory, a row from the future."""
    made = SmallHome(tmp_path_factory.mktemp("sql") / "home")
    made.land(
        memory("m1", confidence=0.5),
        memory("m2", content=HOSTILE, project="[bold]p[/bold]"),
        interaction("i1", memories_used=["m1", "gone"], response=memory("m1")["content"], tokens=2**62),
        interaction("i2", project="other", tokens=2**62),
        interaction("i2", project="shop", recorded_at="2026-03-05T00:00:00Z", tokens=2**62),
        interaction("i3", created_at="2026-03-03T09:00:00Z", project="other", memories_used=["m2"]),
        interaction("later", created_at=FUTURE),
        outcome("o1", strategy="try again", success=False),
        interaction("bad", prompt=" "),
    )
    made.nightly()
    return made


def asking(folder: Path, capfd, monkeypatch) -> Ask:
    def ask(*arguments: str, output: str = "json") -> Said:
        monkeypatch.setenv("SLOWWAVE_HOME", str(folder))
        capfd.readouterr()
        code = cli._exit_code(["sql", *arguments, "--format", output])
        return Said(code, *capfd.readouterr())

    return ask


@pytest.fixture
def ask(home, capfd, monkeypatch) -> Ask:
    return asking(home.folder, capfd, monkeypatch)


@pytest.fixture
def ask_nothing(tmp_path, capfd, monkeypatch) -> Ask:
    """Questions to a home that is not there."""
    return asking(tmp_path / "absent", capfd, monkeypatch)


# -------------------------------------------------------------------------------------------------------------- formats


def test_json_holds_exactly_what_sql_says(ask):
    said = ask(
        """SELECT
            TIMESTAMP '2026-03-10 08:00:00' AS second, TIMESTAMP '2026-03-10 08:00:00.000001' AS micro,
            TIMESTAMPTZ '2026-03-10 08:00:00+02' AS zone, DATE '2026-03-10' AS day, [1, NULL] AS list,
            {'a': 1, 'b': ['x']} AS struct, 'nan'::DOUBLE AS nan, 'inf'::DOUBLE AS inf, 0.1::DOUBLE AS number,
            1.50::DECIMAL(10, 2) AS decimal, (2::HUGEINT ** 100)::HUGEINT AS huge,
            [(2::HUGEINT ** 100)::HUGEINT] AS huges, true AS flag, NULL AS nothing, '\u001b[31m\u202e' AS text,
            MAP {1: 'one'} AS map, INTERVAL 1 DAY AS span"""
    )
    assert said.rows == [
        {
            "second": "2026-03-10T08:00:00Z",
            "micro": "2026-03-10T08:00:00.000001Z",
            "zone": "2026-03-10T06:00:00Z",
            "day": "2026-03-10",
            "list": [1, None],
            "struct": {"a": 1, "b": ["x"]},
            "nan": None,
            "inf": None,
            "number": 0.1,
            "decimal": 1.5,
            "huge": 2**100,
            "huges": [2**100],
            "flag": True,
            "nothing": None,
            "text": "\x1b[31m\u202e",
            "map": {"1": "one"},
            "span": "1 day, 0:00:00",
        }
    ]
    assert '"decimal":1.50' in said.out
    assert said.out.isascii()


def test_every_type_of_duckdb_has_a_form(ask, tmp_path):
    for output in ("json", "csv", "md", "table"):
        said = ask("FROM test_all_types()", output=output)
        assert said.code == 0, said.err
    assert ask("FROM test_all_types()", "--out", str(tmp_path / "all.xlsx"), output="xlsx").code == 0


def test_sums_of_integers_are_exact(ask):
    assert ask("SELECT sum(tokens) AS tokens FROM interactions").rows == [{"tokens": 2 * 2**62}]


def test_columns_of_one_name_are_all_there(ask):
    query = "SELECT 1 AS a, 2 AS a, 3 AS a_2, 4 AS a"
    assert ask(query).rows == [{"a": 1, "a_3": 2, "a_2": 3, "a_4": 4}]
    assert ask(query, output="csv").out == "a,a,a_2,a\n1,2,3,4\n"


def test_no_rows(ask):
    query = "SELECT 1 AS a, 2 AS b WHERE false"
    assert ask(query).out == "[]\n"
    assert ask(query, output="csv").out == "a,b\n"
    assert ask(query, output="table").out.splitlines()[-1] == "0 rows"


def test_many_rows_come_one_by_one_and_in_order(ask):
    assert [row["range"] for row in ask("FROM range(25000)").rows] == list(range(25000))
    assert ask("FROM range(25000)", output="csv").out.splitlines()[1:] == [str(i) for i in range(25000)]


def test_csv_holds_no_formula(ask):
    said = ask(
        "SELECT content, '  =1+1' AS moved, -1 AS number, NULL AS nothing, [1, 2] AS list "
        "FROM memories WHERE memory_id = 'm2'",
        output="csv",
    )
    header, row = csv.reader(io.StringIO(said.out, newline=""))
    assert header == ["content", "moved", "number", "nothing", "list"]
    assert row == ["'" + HOSTILE, "'  =1+1", "-1", "", "[1,2]"]


@each("start", ["=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20", "\t", "\r"])
@each("before", ["", " ", "\u00a0", "\ufeff", "\u3000\u200b", "\n"])
def test_no_text_begins_as_a_formula_does(start, before):
    """In its full-width form too, and behind what a spreadsheet passes over."""
    assert spreadsheet_safe(f"{before}{start}1+1") == f"'{before}{start}1+1"
    assert spreadsheet_safe(f"a{before}{start}1+1") == f"a{before}{start}1+1"


def test_parquet_is_what_was_asked(home):
    query = "SELECT memory_id, eligible_count, sum(eligible_count) OVER () AS total, 1 AS a, 2 AS a FROM memory_health"
    done = home.ask_for_bytes("sql", "--format", "parquet", query)
    frame = pl.read_parquet(io.BytesIO(done.stdout)).sort("memory_id")
    assert frame.columns == ["memory_id", "eligible_count", "total", "a", "a_2"]
    assert frame.select("memory_id", "eligible_count").rows() == [("gone", 0), ("m1", 2), ("m2", 0)]
    assert done.stderr == b""


def test_markdown_is_a_table_on_one_line_per_row(ask):
    said = ask("SELECT memory_id, content FROM memories ORDER BY 1", output="md")
    lines = said.out.splitlines()
    assert len(lines) == 4
    assert lines[:2] == ["| memory_id | content |", "| --- | --- |"]
    assert lines[3].startswith("| m2 | =cmd() \\\\x1b\\[31mred")
    assert lines[3].endswith("\\\\u202e&lt;b&gt; |")
    assert "| verdicts |" in ask("--list", output="md").out


@pytest.mark.parametrize("output", ["csv", "json", "md", "parquet", "xlsx"])
def test_a_file_holds_what_would_be_printed(ask, home, tmp_path, output):
    query = "SELECT memory_id, content FROM memory_health ORDER BY 1"
    target = tmp_path / "answers" / f"result.{output}"
    umask = os.umask(0o022)
    try:
        said = ask(query, "--out", str(target), output=output)
    finally:
        os.umask(umask)
    assert (said.code, said.out, said.err) == (0, f"{target}\n", "")
    assert [path.name for path in target.parent.iterdir()] == [target.name]
    assert target.stat().st_mode & 0o777 == 0o644  # as other files of the user, not as those of a home
    printed = home.ask_for_bytes("sql", query, "--format", output).stdout
    if output == "xlsx":  # its parts say when it was made
        with zipfile.ZipFile(io.BytesIO(printed)) as one, zipfile.ZipFile(target) as other:
            assert one.read("xl/worksheets/sheet1.xml") == other.read("xl/worksheets/sheet1.xml")
    else:
        assert printed == target.read_bytes()


def test_a_query_that_fails_leaves_the_file_as_it_was(ask, tmp_path):
    target = tmp_path / "result.csv"
    target.write_text("before")
    said = ask("SELECT error('no')", "--out", str(target), output="csv")
    assert said.code == 1
    assert (target.read_text(), [path.name for path in tmp_path.iterdir()]) == ("before", ["result.csv"])


def test_a_file_is_written_through_a_link_and_never_among_what_is_kept(ask, home, tmp_path):
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    assert ask("SELECT 1 AS one", "--out", str(tmp_path / "link.csv"), output="csv").code == 0
    assert (tmp_path / "real.csv").read_text() == "one\n1\n"
    before = home.contents()
    (tmp_path / "current.csv").symlink_to(home.settings.current)
    for target in (home.settings.current, home.settings.lake_folder / "x.csv", tmp_path / "current.csv"):
        said = ask("SELECT 1", "--out", str(target), output="csv")
        assert (said.code, said.out) == (1, "")
        assert "lies among what Slowwave keeps" in said.err
    assert ask("SELECT 1", "--out", str(tmp_path), output="csv").err == (
        f"slowwave: {tmp_path} is no file: name one, or one that is to be made\n"
    )
    assert ask("SELECT 1", "--out", str(tmp_path / "x.txt"), output="table").code == 2
    assert home.contents() == before


@pytest.mark.parametrize("output", ["parquet", "xlsx"])
def test_what_is_binary_does_not_go_to_a_terminal(home, output, monkeypatch, capfd):
    monkeypatch.setenv("SLOWWAVE_HOME", str(home.folder))
    master, terminal = os.openpty()
    with os.fdopen(terminal, "w") as shown_at, redirect_stdout(shown_at):
        code = cli._exit_code(["sql", "FROM runs", "--format", output])
    os.close(master)
    assert code == 2
    assert f"--out result.{output}" in " ".join(capfd.readouterr().err.split())


@pytest.mark.parametrize("output", ["table", "csv", "json", "md"])
def test_a_terminal_obeys_nothing(home, output, monkeypatch):
    monkeypatch.setenv("SLOWWAVE_HOME", str(home.folder))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    master, terminal = os.openpty()
    try:
        with os.fdopen(terminal, "w") as shown_at, redirect_stdout(shown_at):
            code = cli._exit_code(["sql", "SELECT content FROM memories", "--format", output])
        shown = os.read(master, 100_000).decode()
    finally:
        os.close(master)
    assert code == 0
    assert "[red]markup[/red]" in shown.replace("\\[", "[").replace("\\]", "]")
    assert not {"\x1b", "\x9b", "\x00", "\u202e"} & set(shown)


def test_a_table_fits_and_says_how_many(ask):
    said = ask(
        "SELECT memory_id, project, status, content, eligible_count FROM memory_health ORDER BY 1", output="table"
    )
    lines = said.out.splitlines()
    assert max(map(len, lines)) <= 100
    assert lines[0].split() == ["memory_id", "project", "status", "content", "eligible_count"]
    assert lines[-1] == "3 rows"
    assert lines[2].split()[:2] == ["gone", "NULL"]
    assert "[bold]p[/bold]" in lines[4]
    assert "\\x1b[31mred" in lines[4]
    assert "\x1b" not in said.out


def test_what_does_not_fit_side_by_side_stands_below_each_other(ask):
    said = ask("FROM memory_health WHERE memory_id = 'm2'", output="table")
    lines = said.out.splitlines()
    assert max(map(len, lines)) <= 100
    assert lines[0] == "── row 1"
    assert lines[-1] == "1 row"
    assert "[bold]p[/bold]" in said.out
    assert not {"\x1b", "\x9b", "\x00", "\u202e"} & set(said.out)


def test_a_few_sentences_are_shown_whole_and_many_in_lines(ask):
    sentence = "Record with each interaction the ids of the memories that were put into its prompt, please."
    columns = f"'{sentence}' AS asked, '{sentence}' AS answer, '{sentence}' AS lacks"
    few = ask(f"SELECT {columns} FROM range(5)", output="table").out  # noqa: S608 - our own words
    assert " ".join(few.split()).count(sentence) == 15
    assert few.splitlines()[0] == "── row 1"
    many = ask(f"SELECT {columns} FROM range(6)", output="table").out  # noqa: S608 - our own words
    assert len(many.splitlines()) == 9
    half_shown = ask(f"SELECT '{sentence}' AS asked, 1 AS count", output="table").out
    assert half_shown.splitlines()[0].split() == ["asked", "count"]
    long = ask(f"SELECT '{'word ' * 120}' AS asked", output="table").out
    assert "…" in long


def test_a_long_table_is_cut_and_says_so(ask):
    said = ask("FROM range(30000)", output="table")
    assert len(said.out.splitlines()) == 203
    assert said.out.splitlines()[-1] == "30,000 rows"
    assert said.err == "slowwave: 200 of 30,000 rows are shown; --format csv, json, md, parquet or xlsx gives all\n"


# ------------------------------------------------------------------------------------------------------------- lockdown


@pytest.mark.parametrize(
    "statement",
    [
        "COPY runs TO '{folder}/out.csv'",
        "COPY (SELECT 1) TO '/dev/stdout'",
        "EXPORT DATABASE '{folder}/out'",
        "ATTACH '{folder}/out.duckdb'",
        "CREATE TABLE mine (a INTEGER)",
        "CREATE PERSISTENT SECRET s (TYPE http)",
        "CREATE MACRO mine() AS 1",
        "INSERT INTO runs SELECT * FROM runs",
        "UPDATE memory_health SET content = ''",
        "UPDATE EXTENSIONS",
        "/* now */ update extensions (httpfs)",
        "SELECT 1; UPDATE EXTENSIONS",
        "DELETE FROM runs",
        "DROP TABLE runs",
        "ALTER TABLE runs ADD COLUMN a INTEGER",
        "COMMENT ON TABLE runs IS 'mine'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "PRAGMA enable_profiling",
        "PRAGMA profiling_output = '{folder}/out'",
        "CALL enable_logging(storage = 'file', storage_path = '{folder}/out')",
        "SET enable_external_access = true",
        "SET temp_directory = '{folder}'",
        "SET lock_configuration = false",
        "RESET memory_limit",
        "FROM read_csv('{folder}/secret.csv')",
        "FROM read_text('{folder}/secret.csv')",
        "FROM read_blob('{folder}/secret.csv')",
        "FROM glob('{folder}/*')",
        "FROM '{folder}/secret.csv'",
        "FROM read_parquet('http://localhost:1/x.parquet')",
        "FROM home",
        "COPY (SELECT 1) TO 'http://localhost:1/x'",
    ],
)
def test_sql_reaches_nothing_else(ask, home, tmp_path, statement):
    (tmp_path / "secret.csv").write_text("a\n1\n")
    before = home.contents()
    said = ask(statement.format(folder=tmp_path))
    assert (said.code, said.out) == (1, "")
    assert len(said.err.splitlines()) <= 2
    assert [path.name for path in tmp_path.iterdir()] == ["secret.csv"]
    assert home.contents() == before


def test_spill_goes_to_a_folder_that_is_removed(ask, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (row,) = ask("SELECT current_setting('temp_directory') AS folder").rows
    assert Path(row["folder"]).parent == tmp_path
    assert list(tmp_path.iterdir()) == []


# -------------------------------------------------------------------------------------------------------- landed tables


def test_winning_versions_are_one_row_per_key(ask):
    rows = ask("SELECT interaction_id, project FROM interactions ORDER BY 1").rows
    assert [tuple(row.values()) for row in rows] == [("i1", "shop"), ("i2", "shop"), ("i3", "other")]


def test_a_filter_brings_no_losing_version_back(ask):
    assert ask("SELECT interaction_id FROM interactions WHERE project = 'other'").rows == [{"interaction_id": "i3"}]


def test_logs_hold_every_version(ask):
    rows = ask("SELECT interaction_id FROM interactions_log ORDER BY 1").rows
    assert [row["interaction_id"] for row in rows] == ["i1", "i2", "i2", "i3", "later"]
    assert ask("SELECT count(*) AS n FROM outcomes_log").rows == [{"n": 1}]
    assert ask("SELECT count(*) AS n FROM Memories_LOG").rows == [{"n": 2}]


def test_landed_and_published_tables_join(ask):
    query = "SELECT response FROM memory_references JOIN interactions USING (interaction_id) WHERE is_echoed"
    assert ask(query).rows == [{"response": memory("m1")["content"]}]


def test_a_row_in_two_files_is_one_row(tmp_path, capfd, monkeypatch):
    home = SmallHome(tmp_path / "home")
    home.land(interaction("i1"))
    (file,) = (home.folder / "lake" / "interactions").glob("*/*.parquet")
    file.with_name(f"copy-{file.stem.split('-')[1]}.parquet").write_bytes(file.read_bytes())
    ask = asking(home.folder, capfd, monkeypatch)
    assert ask("SELECT count(*) AS n FROM interactions_log").rows == [{"n": 1}]


def test_as_of_shows_what_was_known_then(home, ask):
    current = home.settings.current.resolve()
    then = "2026-03-03"
    rows = ask("SELECT interaction_id, project FROM interactions ORDER BY 1", "--as-of", then).rows
    assert [tuple(row.values()) for row in rows] == [("i1", "shop"), ("i2", "other")]
    health = "SELECT memory_id, eligible_count, as_of FROM memory_health ORDER BY 1"
    midnight = "2026-03-03T00:00:00Z"
    assert ask(health, "--as-of", then).rows == [
        {"memory_id": "gone", "eligible_count": 0, "as_of": midnight},
        {"memory_id": "m1", "eligible_count": 1, "as_of": midnight},
        {"memory_id": "m2", "eligible_count": 0, "as_of": midnight},
    ]
    assert home.settings.current.resolve() == current
    assert ask("FROM runs", "--as-of", "soon").code == 1


def test_a_compaction_meanwhile_only_means_another_look(tmp_path, capfd, monkeypatch):
    home = SmallHome(tmp_path / "home")
    for i in range(COMPACT_FROM_FILES - 1):
        home.land(interaction(f"i{i}"))
    taken = []

    def list_then_compact(*arguments: Any) -> LandedViews:
        """The list a query works on, followed by what a landing may do before the query reads."""
        views = LandedViews(*arguments)
        if not taken:
            home.land(interaction("last"))
            Lake(Path(home.settings.lake)).compact(Interactions, datetime(2026, 3, 2).date())  # noqa: DTZ001 - a UTC day
            assert views.is_outdated()
        taken.append(views)
        return views

    monkeypatch.setattr("slowwave.flows.lake.views.LandedViews", list_then_compact)
    said = asking(home.folder, capfd, monkeypatch)("SELECT count(DISTINCT interaction_id) AS n FROM interactions_log")
    assert said.rows == [{"n": COMPACT_FROM_FILES}]
    assert len(taken) == 2


def test_an_empty_lake_has_its_tables(ask_nothing):
    for name in LANDED_NAMES:
        assert ask_nothing(f"FROM {name}").rows == []
    columns = ask_nothing("DESCRIBE interactions").rows
    assert {"interaction_id", "memories_offered", "row_hash"} <= {column["column_name"] for column in columns}


def test_landed_rows_can_be_asked_before_anything_is_published(tmp_path, capfd, monkeypatch):
    home = SmallHome(tmp_path / "home")
    home.land(interaction("i1"))
    ask = asking(home.folder, capfd, monkeypatch)
    assert ask("SELECT interaction_id FROM interactions").rows == [{"interaction_id": "i1"}]
    for query in ("FROM memory_health", "most_referenced", "SELECT * FROM interactions, runs"):
        said = ask(query)
        assert (said.code, said.out) == (1, "")
        assert said.err == "slowwave: nothing is published yet: run `slowwave nightly`\n"


def test_near_names_of_a_table_that_is_not_there_are_given(ask):
    for query, near in (("FROM memory_helth", "memory_health"), ('SELECT * FROM "Outcome"', "outcomes")):
        said = ask(query)
        assert (said.code, said.out) == (1, "")
        assert f"did you mean {near}" in said.err
        assert "`slowwave inspect schema` lists them" in said.err
    assert ask("FROM zzz").err == "slowwave: there is no table 'zzz': `slowwave inspect schema` lists them\n"


def test_a_name_of_a_table_is_told_from_a_recipe(ask):
    assert ask("heuristics").err == "slowwave: 'heuristics' is a table: `slowwave sql 'FROM heuristics'` shows it\n"


def test_what_another_release_published_lacks_is_no_fault_of_the_query(tmp_path, capfd, monkeypatch):
    home = plain_home(tmp_path / "home")
    with duckdb.connect(home.settings.current.resolve()) as connection:
        connection.execute("DROP TABLE untried_strategies")
        connection.execute("ALTER TABLE strength_fits DROP COLUMN reach_days")
    ask = asking(home.folder, capfd, monkeypatch)
    for query in ("untried_strategies", "half_lives", "FROM untried_strategies"):
        said = ask(query)
        assert (said.code, said.err.splitlines()[-1]) == (1, f"slowwave: {OTHER_RELEASE}")
    assert OTHER_RELEASE not in ask("SELECT nothing FROM heuristics").err


@pytest.mark.parametrize("param", ["limit=-1", "offset=-1"])
def test_a_negative_limit_is_no_fault_of_the_release(ask, param):
    said = ask("landed_interactions", "--param", param)
    assert said.code == 1
    assert "cannot be negative" in said.err
    assert OTHER_RELEASE not in said.err


def test_a_lake_of_a_newer_version_is_left_alone(tmp_path, capfd, monkeypatch):
    home = SmallHome(tmp_path / "home")
    home.land(interaction("i1"))
    (home.folder / "lake" / "FORMAT").write_text("99\n")
    said = asking(home.folder, capfd, monkeypatch)("FROM interactions")
    assert said.code == 1
    assert "upgrade slowwave" in said.err


# --------------------------------------------------------------------------------------------------- queries and params


def test_what_there_is_can_be_listed(ask):
    assert {row["name"] for row in ask("SHOW TABLES").rows} == EVERYTHING_PUBLISHED | LANDED_NAMES
    assert len(ask("DESCRIBE memory_health").rows) > 10
    assert {row["column_name"] for row in ask("SUMMARIZE memory_health").rows} > {"memory_id", "echoed_count"}
    comments = ask("SELECT comment FROM duckdb_columns() WHERE table_name = 'memory_health' AND column_name = 'as_of'")
    assert "known before" in comments.rows[0]["comment"]


def test_of_several_statements_the_last_is_printed(ask):
    query = "CREATE TEMP TABLE t AS SELECT 1 AS a; INSERT INTO t VALUES ($b); SELECT sum(a) AS a FROM t;"
    said = ask(query, "--param", "b=4")
    assert said.rows == [{"a": 5}]


def test_params_are_values_never_sql(ask):
    value = "x' OR 1=1; DROP TABLE runs; --"
    assert ask("SELECT $v AS v, $v = $w AS same", "--param", f"v={value}", "--param", "w=a=b").rows == [
        {"v": value, "same": False}
    ]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["SELECT $day, $project"], "--param day=… --param project=…"),
        (["SELECT $day", "--param", "day=1", "--param", "dya=1"], "no $dya; its params: $day"),
        (["SELECT 1", "--param", "x=1"], "its params: none"),
        (["SELECT $day", "--param", "day"], "is not NAME=VALUE"),
        (["memory_history"], "--param memory_id=…"),
        ([], "--list"),
    ],
)
def test_wrong_usage_exits_with_2(ask, arguments, complaint):
    said = ask(*arguments)
    assert (said.code, said.out) == (2, "")
    assert complaint in said.err


@each(
    ("query", "complaint"),
    [
        ("SELECT * FRM runs", "syntax error"),
        ("SELECT a FROM nowhere", "there is no table 'nowhere'"),
        ("SELECT eligible FROM memory_health", "Candidate bindings"),
        ("SELECT 'x'::INTEGER", "Could not convert string"),
        ("SELECT error(chr(27) || '[31m\nmore\nand more')", "\\x1b[31m"),
        ("SELECT CASE WHEN range = 20000 THEN error('late') END FROM range(30000)", "late"),
        ("  ;", "the query is empty"),
        ("most_refrenced", "did you mean most_referenced or memory_references_of or most_needed?"),
    ],
)
def test_a_failing_query_says_why_in_a_line_or_two(ask, query, complaint):
    said = ask(query)
    assert said.code == 1
    assert complaint in said.err
    assert len(said.err.splitlines()) <= 2
    assert "\x1b" not in said.err


def test_a_query_comes_from_standard_input(home):
    command = [sys.executable, "-m", "slowwave.flows.cli.main", "sql", "-", "--format", "csv"]
    env = {**os.environ, "SLOWWAVE_HOME": str(home.folder)}
    done = subprocess.run(command, env=env, input=b"SELECT 'caf\xc3\xa9' AS a", capture_output=True, check=True)
    assert done.stdout.decode() == "a\ncafé\n"
    done = subprocess.run(command, env=env, input=b"SELECT '\xff'", capture_output=True, check=False)
    assert done.returncode == 1
    assert done.stderr.decode() == "slowwave: the query on standard input is not UTF-8 (invalid start byte at byte 8)\n"


def test_the_cookbook_is_listed(ask_nothing):
    rows = ask_nothing("--list").rows
    assert {"most_referenced", "never_eligible"} <= {row["name"] for row in rows}
    (history,) = (row for row in rows if row["name"] == "memory_history")
    assert history["params"] == {"memory_id": None, "since": "1900-01-01", "until": "9999-12-31"}
    assert {"name": "day", "unit": "UTC day", "meaning": "a day on which something changed"} in history["columns"]
    assert ask_nothing("--list", output="csv").out.startswith("name,question,params\n")
    table = ask_nothing("--list", output="table").out
    assert table.splitlines()[-1] == f"{len(rows)} recipes"
    assert max(map(len, table.splitlines())) <= 100
    on_one_line = " ".join(table.split())
    for row in rows:
        assert f"{row['name']} {row['question']}" in on_one_line


# ------------------------------------------------------------------------------------------------------------ processes


def test_a_question_to_the_published_tables_loads_no_polars(home):
    code = (
        "import sys; from slowwave.flows.cli.main import _exit_code; "
        "code = _exit_code(['sql', 'SELECT count(*) FROM memory_health']); "
        "loaded = {'polars', 'pyarrow', 'prefect'} & sys.modules.keys(); raise SystemExit(code or str(loaded or ''))"
    )
    env = {**os.environ, "SLOWWAVE_HOME": str(home.folder)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert done.stderr.strip() == ""


def test_ctrl_c_stops_a_query(home, tmp_path):
    query = "SELECT count(*) FROM range(1000000000) AS a, range(1000) AS b WHERE a.range % 7 = b.range % 5"
    with subprocess.Popen(
        [sys.executable, "-m", "slowwave.flows.cli.main", "sql", query],
        env={**os.environ, "SLOWWAVE_HOME": str(home.folder), "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        deadline = time.monotonic() + 300
        while not list(tmp_path.glob("slowwave-sql-*")) and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.5)  # the folder is made just before the query starts
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=300)
    assert (process.returncode, out, err) == (130, "", "")
    assert list(tmp_path.iterdir()) == []


def test_a_reader_that_has_seen_enough_is_no_error(home, tmp_path):
    with (tmp_path / "err").open("wb+") as err:
        with subprocess.Popen(
            [sys.executable, "-m", "slowwave.flows.cli.main", "sql", "FROM range(10000000)", "--format", "csv"],
            env={**os.environ, "SLOWWAVE_HOME": str(home.folder)},
            stdout=subprocess.PIPE,
            stderr=err,
        ) as process:
            assert process.stdout
            assert process.stdout.readline() == b"range\n"
        assert process.returncode == 0
        err.seek(0)
        assert err.read() == b""


def test_the_names_that_load_the_lake_are_found_whatever_their_case():
    for query in ('FROM "interactions"', "from INTERACTIONS_LOG", "SELECT(SELECT 1 FROM main.outcomes)", "show tables"):
        assert sql._ABOUT_LANDED.search(query)
    for query in ("FROM memory_health", "SELECT injected_interactions FROM x", "FROM memories_of_mine"):
        assert not sql._ABOUT_LANDED.search(query)


def test_a_link_that_leads_nowhere_is_told_and_mended_by_a_night(tmp_path, monkeypatch, capfd):
    home = plain_home(tmp_path / "home")
    monkeypatch.setenv("SLOWWAVE_HOME", str(home.folder))
    for target in ("current.duckdb", "runs/gone.duckdb"):
        home.settings.current.unlink()
        home.settings.current.symlink_to(target)
        assert cli._exit_code(["sql", "FROM runs"]) == 1
        assert "leads nowhere: run `slowwave nightly`" in capfd.readouterr().err
    home.nightly()
    assert cli._exit_code(["sql", "FROM runs"]) == 0
