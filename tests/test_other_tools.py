"""What is said of other tools holds: its lines run on a published file and on an export of it."""

from __future__ import annotations

import ast
import re
import shlex
import shutil
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest
from small_home import SmallHome, interaction, memory

from slowwave.flows.cli import main as cli

ROOT = Path(__file__).parents[1]
SECTION = (ROOT / "dashboards" / "README.md").read_text().split("\n## For other tools\n")[1]
PYTHON = re.findall(r"```py\n(.*?)```", SECTION, flags=re.DOTALL)
DUCKDB = [line for line in SECTION.splitlines() if line.startswith("duckdb ")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a published home in `data` and an export of it in `export`."""
    made = tmp_path_factory.mktemp("tools")
    home = SmallHome(made / "data")
    home.land(memory("m1"), memory("m2"), interaction("i1", memories_used=["m1"]))
    home.nightly(datetime(2026, 3, 3))  # noqa: DTZ001 - naive times hold UTC
    assert home.run("inspect", "export").returncode == 0
    assert home.run("inspect", "schema", "--views", "--output", "lake.sql").returncode == 0
    return made


@pytest.fixture
def there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("SLOWWAVE_HOME", str(folder / "data"))
    return folder


def _ran(code: str) -> tuple[dict[str, Any], Any]:
    """The names a piece of Python leaves, and the value of its last line, as a notebook shows it."""
    tree, names, shown = ast.parse(code), {}, None
    last = tree.body[-1]
    if isinstance(last, ast.Expr):
        tree.body.pop()
    exec(compile(tree, "dashboards/README.md", "exec"), names)  # noqa: S102 - our own page
    if isinstance(last, ast.Expr):
        shown = eval(compile(ast.Expression(last.value), "dashboards/README.md", "eval"), names)  # noqa: S307 - our own page
    return names, shown


@pytest.mark.slow
@pytest.mark.usefixtures("there")
def test_the_python_examples_run() -> None:
    of_frames, of_a_notebook = PYTHON
    names, _ = _ran(of_frames)
    assert sorted(names["as_pandas"]["memory_id"]) == sorted(names["as_polars"]["memory_id"]) == ["m1", "m2"]
    assert names["as_polars"].schema["strength_forecast"].inner.is_float()
    assert names["weak"].is_empty()
    names, shown = _ran(of_a_notebook)
    names["published"].close()
    assert "need_30d" in shown.columns


@pytest.mark.parametrize("line", DUCKDB)
@pytest.mark.usefixtures("there")
def test_the_sql_of_the_duckdb_lines_runs(line: str) -> None:
    words = shlex.split(line)
    sql = words[words.index("-c") + 1]
    path = words[2] if words[1] == "-readonly" else ":memory:"
    with duckdb.connect(path, read_only=path != ":memory:") as connection:
        if words[1] == "-init":
            connection.execute(Path(words[2]).read_text())
        assert connection.sql(sql).fetchall()


def test_an_export_answers_where_the_file_cannot_be_opened(there: Path) -> None:
    (sql,) = re.findall(r"`(SELECT day.*?)`", SECTION, flags=re.DOTALL)
    sql = " ".join(sql.split()).replace("/srv/export", "export").replace("…", "m1")
    with duckdb.connect() as connection:
        assert connection.sql(sql).fetchall()
    assert there.is_dir()


def test_a_copy_is_whole_and_a_reader_keeps_what_it_opened(there: Path) -> None:
    current = there / "data" / "serving" / "current.duckdb"
    shutil.copy(current, there / "copy.duckdb")
    query = "SELECT DISTINCT as_of FROM memory_health"
    with duckdb.connect(str(current), read_only=True) as reader:
        before = reader.sql(query).fetchall()
        SmallHome(there / "data").nightly(datetime(2026, 3, 4))  # noqa: DTZ001 - naive times hold UTC
        assert reader.sql(query).fetchall() == before
    for path, expected in ((there / "copy.duckdb", 3), (current, 4)):
        with duckdb.connect(str(path), read_only=True) as reader:
            assert reader.sql(query).fetchall() == [(datetime(2026, 3, expected),)]  # noqa: DTZ001


@pytest.mark.usefixtures("there")
def test_the_export_lines_run() -> None:
    lines = [line.split("#")[0] for line in SECTION.splitlines() if line.startswith("slowwave inspect export")]
    assert len(lines) == 2
    for line in lines:
        words = shlex.split(line)[1:]
        assert cli._exit_code([*words, "--force"]) == 0
