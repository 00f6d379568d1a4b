"""What is asked about one user, agent or tag is answered of those memories alone, by every recipe, report and page."""

from __future__ import annotations

import json
import re
from datetime import datetime
from pathlib import Path

import duckdb
import pytest
from small_home import SmallHome, interaction, memory, outcome

from slowwave.dashboards.cookbook.cookbook import cookbook
from slowwave.dashboards.cookbook.published import Published
from slowwave.flows.ask.connection import locked_connection, published_file
from slowwave.flows.ask.narrowed import Narrowed, narrow, narrowed_by
from slowwave.flows.cli import main as cli
from slowwave.flows.kernel.errors import UserError

HOSTILE = "x'; DROP TABLE memory_health; --"
_OF_THE_LAKE = re.compile(r"\b(?:FROM|JOIN)\s+(?:interactions|outcomes|memories)(?:_log)?\b")
TAUGHT = {"project": "shop", "task_type": "deploy", "strategy": "try again"}


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> SmallHome:
    made = SmallHome(tmp_path_factory.mktemp("narrowed") / "home")
    made.land(
        memory("hers", user_id="ada", tags=["a", "b"]),
        memory("of bob", user_id="bob", agent="coder", tags=["b"]),
        memory("ours", tags=[HOSTILE]),
        memory("hostile", user_id=HOSTILE),
        interaction("i1", user_id="ada", agent="coder", response=memory("hers")["content"], memories_used=["of bob"]),
        interaction("i2", user_id="bob", agent="helper", response=memory("ours")["content"]),
        outcome("of ada", interaction_id="i2", user_id="ada", agent="coder", strategy=None, attempted=False),
        outcome("of i2", interaction_id="i2", strategy=None, attempted=False),
        *(outcome(f"o{n}", agent=agent, **TAUGHT) for n, agent in enumerate(("coder", "coder", "helper"))),
    )
    made.nightly(datetime(2026, 3, 5))  # noqa: DTZ001 - times are naive and hold UTC everywhere
    return made


@pytest.fixture
def asked(home, capfd, monkeypatch):
    def ask(*arguments: str, code: int = 0) -> str:
        monkeypatch.setenv("SLOWWAVE_HOME", str(home.folder))
        capfd.readouterr()
        assert cli._exit_code([*arguments]) == code
        said = capfd.readouterr()
        return said.out if code == 0 else said.err

    return ask


def memories(asked, *options: str) -> list[str]:
    rows = asked("sql", "SELECT memory_id FROM memory_health ORDER BY ALL", "--format", "json", *options)
    return [row["memory_id"] for row in json.loads(rows)]


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ((), ["hers", "hostile", "of bob", "ours"]),
        (("--user", "ada"), ["hers"]),
        (("--user", HOSTILE), ["hostile"]),
        (("--user", ""), []),
        (("--agent", "coder"), ["of bob"]),
        (("--agent", ""), ["hers", "hostile", "ours"]),
        (("--tag", "b"), ["hers", "of bob"]),
        (("--tag", HOSTILE), ["ours"]),
        (("--tag", "b", "--user", "bob", "--agent", "coder"), ["of bob"]),
        (("--tag", "a", "--user", "bob"), []),
    ],
)
def test_only_the_memories_asked_about_are_seen(asked, options, found):
    assert memories(asked, *options) == found
    now = asked("sql", "SELECT memory_id FROM memories_now ORDER BY ALL", "--format", "json", *options)
    assert [row["memory_id"] for row in json.loads(now)] == found


def test_what_is_told_of_memories_and_agents_follows(asked):
    def count(query: str, *options: str) -> int:
        sql = f"SELECT count(*) AS n FROM {query}"  # noqa: S608 - our own
        (row,) = json.loads(asked("sql", sql, "--format", "json", *options))
        return row["n"]

    assert count("memory_references") == 3
    assert count("memory_references", "--user", "ada") == 1
    assert count("memory_health_history WHERE memory_id <> 'hers'", "--user", "ada") == 0
    assert count("counted_outcomes") == 5
    assert count("counted_outcomes", "--agent", "coder") == 3
    assert count("interactions", "--user", "bob") == count("interactions_log", "--agent", "helper") == 1
    assert count("runs", "--user", "ada") == count("runs")


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ((), ["hers", "hostile", "of bob", "ours"]),
        (("--user", "ada"), ["hers"]),
        (("--user", HOSTILE), ["hostile"]),
        (("--user", "nobody"), []),
        (("--agent", "coder"), ["of bob"]),
        (("--tag", "b"), ["hers", "of bob"]),
        (("--tag", "b", "--user", "bob"), ["of bob"]),
    ],
)
def test_landed_memories_too_are_those_asked_about(asked, options, found):
    for table in ("memories", "memories_log"):
        sql = f"SELECT DISTINCT memory_id FROM {table} ORDER BY ALL"  # noqa: S608 - our own
        assert [row["memory_id"] for row in json.loads(asked("sql", sql, "--format", "json", *options))] == found


def test_landed_outcomes_are_of_the_user_and_agent_they_name_or_of_their_interactions(asked):
    def outcomes(*options: str) -> list[str]:
        rows = asked("sql", "SELECT outcome_id FROM outcomes ORDER BY ALL", "--format", "json", *options)
        return [row["outcome_id"] for row in json.loads(rows)]

    assert outcomes() == outcomes("--tag", "a") == ["o0", "o1", "o2", "of ada", "of i2"]
    assert outcomes("--user", "ada") == ["of ada"]
    assert outcomes("--user", "bob") == ["of i2"]
    assert outcomes("--agent", "helper") == ["o2", "of i2"]
    assert outcomes("--agent", "helper", "--user", "ada") == []


@pytest.mark.slow
def test_every_recipe_answers_about_a_user_an_agent_and_a_tag(home):
    with locked_connection(published_file(home.settings)) as connection:
        narrow(connection, Narrowed("ada", "coder", "a"))
        for recipe in cookbook().values():
            if _OF_THE_LAKE.search(recipe.sql):
                continue
            values = {name: value or "" for name, value in recipe.params.items()}
            assert "of bob" not in str(connection.execute(recipe.sql, values).fetchall()), recipe.name


def test_a_report_about_some_tells_so_and_stands_nowhere_else(asked, tmp_path):
    assert "need --to FILE" in " ".join(asked("report", "--tag", "a", code=2).split())
    page = asked("report", "--user", "<b>ada", "--to", "-")
    assert "Memories of user &#39;&lt;b&gt;ada&#39; only" in page
    asked("report", "--user", "ada", "--to", str(tmp_path / "hers.html"))
    assert "Prices are integers of the smallest coin of of bob" not in (tmp_path / "hers.html").read_text()


def test_a_dashboard_hands_on_whom_it_is_about(home):
    about = Narrowed(user="ada", tag='"b"')
    assert narrowed_by(about.environment()) == about
    assert narrowed_by(Narrowed().environment()) == narrowed_by({}) == Narrowed()
    serving = published_file(home.settings)
    assert serving is not None
    published = Published(Path(serving), Narrowed(user="bob"))
    try:
        assert published.answer("memory_explorer")["memory_id"].to_list() == ["of bob"]
        assert published.count("memory_explorer") == 1
    finally:
        published.close()


def test_a_file_of_a_release_without_users_says_so(tmp_path):
    with duckdb.connect(tmp_path / "old.duckdb") as connection:
        connection.execute("CREATE TABLE memory_health (memory_id VARCHAR)")
        with pytest.raises(UserError, match="of another release"):
            narrow(connection, Narrowed(user="ada"))
