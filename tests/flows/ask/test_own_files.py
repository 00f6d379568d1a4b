"""`slowwave sql --with NAME=FILE`: a file of one's own beside the published tables, and no other file by it."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from each import each
from small_home import SmallHome, interaction, memory

from slowwave.flows.ask.connection import DuckDBConfig, locked_connection, own_files
from slowwave.flows.ask.narrowed import HELPERS, Narrowed, narrow
from slowwave.flows.cli import main as cli
from slowwave.flows.kernel.errors import UserError

Ask = Callable[..., tuple[int, str, str]]
TEAMS = "project,team\nshop,red\nother,blue\n"


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> SmallHome:
    made = SmallHome(tmp_path_factory.mktemp("own") / "home")
    made.land(memory("m1"), memory("m2", project="other"), interaction("i1", memories_used=["m1"]))
    made.nightly()
    return made


@pytest.fixture
def ask(home, capfd, monkeypatch, tmp_path) -> Ask:
    """Questions asked in an empty folder; answers are JSON."""
    monkeypatch.setenv("SLOWWAVE_HOME", str(home.folder))
    monkeypatch.chdir(tmp_path)

    def ask(*arguments: str) -> tuple[int, str, str]:
        capfd.readouterr()
        code = cli._exit_code(["sql", *arguments, "--format", "json"])
        return code, *capfd.readouterr()

    return ask


def rows(answer: tuple[int, str, str]) -> list[dict[str, Any]]:
    assert answer[0] == 0, answer[2]
    return json.loads(answer[1])


def test_files_of_each_kind_join_what_is_published_and_landed(ask):
    Path("teams.csv").write_text(TEAMS)
    Path("teams.tsv").write_text(TEAMS.replace(",", "\t"))
    Path("semi.CSV").write_text("\ufeff" + TEAMS.replace(",", ";"))
    Path("teams.csv.gz").write_bytes(gzip.compress(TEAMS.encode()))
    Path("teams.jsonl").write_text('{"project": "shop", "team": "red"}\n{"project": "other", "team": "blue"}\n')
    Path("teams.json").write_text('[{"project": "shop", "team": "red"}, {"project": "other", "team": "blue"}]')
    pl.DataFrame({"project": ["shop", "other"], "team": ["red", "blue"]}).write_parquet("teams.parquet")
    for file in Path().iterdir():
        query = "SELECT team, memory_id FROM memory_health JOIN Teams USING (project) ORDER BY 1"
        assert rows(ask("--with", f"teams={file}", query)) == [
            {"team": "blue", "memory_id": "m2"},
            {"team": "red", "memory_id": "m1"},
        ], file
    query = "SELECT a.team FROM interactions JOIN a USING (project) JOIN b USING (project)"
    assert rows(ask("--with", "a=teams.csv", "--with", "b=teams.jsonl", query)) == [{"team": "red"}]


def test_a_name_with_patterns_quotes_and_spaces_is_one_file(ask):
    for name in ("a[1]*.csv", 'it\'s "x"=1?.csv', "-- ; DROP TABLE.csv"):
        Path(name).write_text("id\n007\n")
        Path("a1x.csv").write_text("id\nwrong\n")
        assert rows(ask("--with", f"own={name}", "FROM own")) == [{"id": "007"}]


def test_types_follow_the_whole_file(ask):
    lines = "\n".join(map(str, range(30_000)))
    Path("late.csv").write_text(f"n,always\n{lines.replace(chr(10), ',1' + chr(10))},1\nx-1,1\n")
    (found,) = rows(ask("--with", "late=late.csv", "SELECT count(*) AS c, max(n) AS n, sum(always) AS s FROM late"))
    assert found == {"c": 30_001, "n": "x-1", "s": 30_001}


def test_what_a_cell_says_is_text_and_does_nothing(ask):
    Path("hostile.csv").write_text("a,b\n\"'); ATTACH 'x'; --\",\"read_csv('teams.csv')\"\n")
    assert rows(ask("--with", "own=hostile.csv", "FROM own")) == [
        {"a": "'); ATTACH 'x'; --", "b": "read_csv('teams.csv')"}
    ]
    assert [path.name for path in Path().iterdir()] == ["hostile.csv"]


@pytest.mark.parametrize(
    "statement",
    [
        "FROM read_csv('{file}')",
        "FROM '{file}'",
        "FROM read_text('{file}')",
        "FROM read_csv('{folder}/other.csv')",
        "FROM read_blob('{folder}/*')",
        "FROM glob('{folder}/*')",
        "COPY own TO '{folder}/out.csv'",
        "COPY own TO '{file}'",
        "CREATE TABLE kept AS FROM own",
        "SET enable_external_access = true",
        "ATTACH '{folder}/out.duckdb'",
    ],
)
def test_no_path_can_be_read_or_written_by_it(ask, home, tmp_path, statement):
    (tmp_path / "own.csv").write_text(TEAMS)
    (tmp_path / "other.csv").write_text("secret\n1\n")
    before = home.contents()
    code, out, _ = ask("--with", "own=own.csv", statement.format(file=tmp_path / "own.csv", folder=tmp_path))
    assert (code, out) == (1, "")
    assert (tmp_path / "own.csv").read_text() == TEAMS
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other.csv", "own.csv"]
    assert home.contents() == before


def test_the_copy_is_the_file_as_it_was_and_goes_with_the_query(ask, home, tmp_path):
    own = tmp_path / "own.csv"
    own.write_text(TEAMS)
    with locked_connection(home.settings.current, own=own_files([f"own={own}"], set)) as connection:
        own.write_text("changed\n")
        connection.execute("DELETE FROM own WHERE team = 'red'")
        assert connection.execute("FROM own").fetchall() == [("other", "blue")]
    assert own.read_text() == "changed\n"
    assert ask("FROM own")[0] == 1


@each(
    ("given", "complaint"),
    [
        (["teams.csv"], "is not NAME=FILE"),
        (["=teams.csv"], "is not NAME=FILE"),
        (["own="], "is not NAME=FILE"),
        (['a"b=teams.csv'], "is not NAME=FILE"),
        (["a.b=teams.csv"], "is not NAME=FILE"),
        (["1a=teams.csv"], "is not NAME=FILE"),
        (["o\u0308wn=teams.csv"], "is not NAME=FILE"),
        (["own=teams.csv", "OWN=teams.csv"], "two files are called OWN"),
        (["runs=teams.csv"], "runs is a table of Slowwave"),
        (["Memories=teams.csv"], "Memories is a table of Slowwave"),
        (["outcomes_log=teams.csv"], "outcomes_log is a table of Slowwave"),
        (["own=teams.txt"], "of no kind that is read here"),
        (["own=teams.parquet.gz"], "of no kind that is read here"),
    ],
)
def test_wrong_usage_exits_with_2(ask, given, complaint):
    for name in ("teams.csv", "teams.txt", "teams.parquet.gz"):
        Path(name).write_text(TEAMS)
    code, out, err = ask(*[word for one in given for word in ("--with", one)], "SELECT 1")
    assert (code, out) == (2, "")
    assert complaint in " ".join(err.split())


@pytest.mark.parametrize("name", sorted(HELPERS))
def test_names_that_narrowing_makes_are_taken(ask, home, name):
    Path("teams.csv").write_text(TEAMS)
    assert ask("--with", f"{name}=teams.csv", "SELECT 1")[0] == 2
    with locked_connection(home.settings.current) as connection:
        narrow(connection, Narrowed("u1"))
        made = connection.execute("SELECT table_name FROM duckdb_tables() WHERE temporary").fetchall()
        made += connection.execute("SELECT view_name FROM duckdb_views() WHERE temporary AND NOT internal").fetchall()
        published = {table for (table,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
    assert {one for (one,) in made} - (published - HELPERS) == HELPERS


def test_a_narrowed_question_sees_own_rows_and_only_these_memories(ask):
    Path("teams.csv").write_text(TEAMS)
    query = "SELECT memory_id, team FROM memory_health RIGHT JOIN teams USING (project) ORDER BY team"
    assert rows(ask("--with", "teams=teams.csv", "--agent", "nobody", query)) == [
        {"memory_id": None, "team": "blue"},
        {"memory_id": None, "team": "red"},
    ]


def write_bad(name: str) -> None:
    pl.DataFrame({"a": [1]}).write_parquet("whole.parquet")
    whole = Path("whole.parquet").read_bytes()
    Path("whole.parquet").unlink()
    content = {
        "ragged.csv": b"a,b\n1,2\n3,4,5\n",
        "latin.csv": b"a,b\n1,\xfc\n",
        "binary.csv": bytes(range(256)) * 8,
        "empty.csv": b"",
        "cut.parquet": whole[:-10],
        "damaged.parquet": b"PAR1xxxxPAR1",
        "cut.jsonl": b'{"a": 1}\n{"a":\n',
        "cut.csv.gz": gzip.compress(TEAMS.encode() * 1_000)[:-20],
        "no.csv.gz": TEAMS.encode(),
    }
    if name in content:
        Path(name).write_bytes(content[name])


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        (
            "ragged.csv",
            "ragged.csv cannot be read: it is no CSV with a line of names, and as many cells in every other",
        ),
        ("latin.csv", "This file is not utf-8 encoded"),
        ("binary.csv", "binary.csv cannot be read"),
        ("empty.csv", "empty.csv is empty"),
        ("cut.parquet", "cut.parquet cannot be read: "),
        ("damaged.parquet", "damaged.parquet cannot be read: "),
        ("cut.jsonl", "Malformed JSON in file it, at byte"),
        ("cut.csv.gz", "cut.csv.gz cannot be read: "),
        ("no.csv.gz", "no.csv.gz cannot be read: "),
        ("missing.csv", "there is no file missing.csv"),
        ("*.csv", "there is no file *.csv: it is taken as it stands, so name one file"),
        ("folder.csv", "folder.csv is a folder: name one file"),
        ("link.csv", "link.csv is a link: name the file that it leads to"),
        ("pipe.csv", "pipe.csv is no file, but a pipe or a device"),
    ],
)
def test_what_cannot_be_read_exits_with_1_and_says_why(ask, tmp_path, name, complaint):
    write_bad(name)
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "elsewhere").write_text(TEAMS)
    (tmp_path / "link.csv").symlink_to(tmp_path / "elsewhere")
    os.mkfifo(tmp_path / "pipe.csv")
    code, out, err = ask("--with", f"own={name}", "FROM own")
    assert (code, out) == (1, "")
    assert complaint in err
    assert len(err.splitlines()) == 1
    assert "slowwave-own-" not in err


def test_a_file_that_there_is_no_room_for_is_said(home, tmp_path):
    own = tmp_path / "large.csv"
    own.write_text("text\n" + "".join(f"{os.urandom(64).hex()}\n" for _ in range(200_000)))
    limits: DuckDBConfig = {"memory_limit": "16MB", "max_temp_directory_size": "1MB", "threads": 1}
    with (
        pytest.raises(UserError, match=r"large\.csv cannot be read: Out of Memory"),
        locked_connection(home.settings.current, limits=limits, own=own_files([f"own={own}"], set)),
    ):
        pass


def test_ctrl_c_stops_the_copying(home, tmp_path):
    """Of a file whose lines go on for some seconds."""
    (tmp_path / "large.csv").write_text("n,text\n" + "".join(f"{n},{n * 7919:x}\n" for n in range(100_000)) * 100)
    command = [sys.executable, "-m", "slowwave.flows.cli.main", "sql", "--with", "own=large.csv", "SELECT 1"]
    env = {**os.environ, "SLOWWAVE_HOME": str(home.folder), "TMPDIR": str(tmp_path)}
    running = subprocess.Popen(
        command, env=env, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    while not list(tmp_path.glob("slowwave-own-*/own.csv")):
        assert running.poll() is None
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    out, _ = running.communicate(timeout=60)
    assert (running.returncode, out) == (130, "")
    assert [path.name for path in tmp_path.iterdir()] == ["large.csv"]
