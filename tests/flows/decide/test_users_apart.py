"""A home of two users: what is asked about one of them says no word of the other's memories and interactions."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import polars as pl
import pytest
from review_acts import said, states
from small_home import SmallHome
from two_users import AS_OF, OTHERS, SECRETS, home_of_two

from slowwave.dashboards.cookbook.cookbook import cookbook
from slowwave.flows.ask.connection import locked_connection, published_file
from slowwave.flows.ask.narrowed import Narrowed, narrow
from slowwave.flows.cli import main as cli
from slowwave.flows.decide.review import WrongUseError
from slowwave.flows.lake.lake import Lake
from slowwave.flows.llm.stage import build_questions, open_questions
from slowwave.flows.publish.log_as_of import LogAsOf


@pytest.fixture(scope="module")
def home() -> SmallHome:
    return home_of_two()


@pytest.fixture
def asked(home, capfd, monkeypatch):
    def ask(*arguments: str, code: int = 0) -> str:
        monkeypatch.setenv("SLOWWAVE_HOME", str(home.folder))
        capfd.readouterr()
        assert cli._exit_code([*arguments]) == code, capfd.readouterr()
        return capfd.readouterr().out

    return ask


@contextmanager
def connected(home: SmallHome, about: Narrowed) -> Iterator[duckdb.DuckDBPyConnection]:
    with locked_connection(published_file(home.settings)) as connection:
        narrow(connection, about)
        yield connection


@pytest.mark.parametrize("user", SECRETS)
def test_no_published_table_says_a_word_of_the_other(home, user):
    secret, found = SECRETS[OTHERS[user]], []
    with connected(home, Narrowed(user=user)) as connection:
        tables = connection.sql("SELECT DISTINCT table_name FROM duckdb_tables() WHERE NOT temporary").fetchall()
        for (table,) in tables:
            rows = connection.sql(f'FROM "{table}"')
            found += [(table, row) for row in rows.fetchall() if secret in str(row)]
    assert found == []


@pytest.mark.parametrize("user", SECRETS)
def test_what_is_left_is_the_users_own(home, user):
    with connected(home, Narrowed(user=user)) as connection:
        for table in ("memory_health", "curation_decisions", "observations", "review_queue", "anti_patterns",
                      "strategy_variants", "error_templates", "heuristics"):  # fmt: skip
            assert SECRETS[user] in str(connection.sql(f"FROM {table}").fetchall()), table
        kinds = connection.sql("SELECT DISTINCT kind FROM review_queue ORDER BY ALL").fetchall()
        assert [kind for (kind,) in kinds] == ["candidate", "merge", "outdated", "unused"]


@pytest.mark.slow
def test_no_recipe_says_a_word_of_the_other(home, asked):
    """Whatever is asked for: the other's ids are given where an id is."""
    wanted = {"memory_id": "bob port", "project": "shop", "agent": "helper", "task_type": "deploy"}
    for name, recipe in cookbook().items():
        needed = {param: wanted.get(param, "bob 3") for param, default in recipe.params.items() if default is None}
        if "item_id" in needed:
            needed["item_id"] = item_of(home, "bob")
        said = asked("sql", name, "--user", "ada", "--format", "json",
                     *(f"--param={param}={value}" for param, value in needed.items()))  # fmt: skip
        assert "zanzibar" not in said, name


def test_neither_report_nor_queue_nor_reasons_say_a_word_of_the_other(asked):
    page = asked("report", "--user", "ada", "--to", "-")
    assert "zanzibar" not in page
    assert "quokkaberry" in page
    assert "zanzibar" not in asked("review", "list", "--user", "ada", "--format", "json")
    for memory_id in ("ada port", "ada same", "passed on"):
        said = asked("why", memory_id, "--format", "json")
        own = "zanzibar cellar is in the harbour" if memory_id == "passed on" else ""  # its own words, then
        assert "zanzibar" not in (said.replace(own, "") if own else said), memory_id


def item_of(home: SmallHome, user: str | None, kind: str = "candidate") -> str:
    """The statement of answers that is this user's alone."""
    with connected(home, Narrowed()) as connection:
        found = connection.execute(
            "SELECT item_id FROM review_queue WHERE kind = $kind AND user_id IS NOT DISTINCT FROM $user"
            " AND len(memory_ids) = 0",
            {"kind": kind, "user": user},
        ).fetchall()
    ((item_id,),) = found
    return item_id


@pytest.fixture
def copy(home, tmp_path) -> SmallHome:
    shutil.copytree(home.folder, tmp_path / "home", symlinks=True)
    return SmallHome(tmp_path / "home")


def test_a_users_candidate_becomes_a_memory_of_that_user(copy):
    item = item_of(copy, "bob")
    assert said(copy, "promote", item).decided == [item]
    assert states(copy)[item]["user_id"] == "bob"
    copy.nightly()
    with connected(copy, Narrowed(user="ada")) as connection:
        assert connection.sql("FROM review_decisions").fetchall() == []
        assert connection.execute("FROM memory_health WHERE memory_id = $id", {"id": item}).fetchall() == []
    with connected(copy, Narrowed(user="bob")) as connection:
        assert len(connection.sql("FROM review_decisions").fetchall()) == 1


def test_a_candidate_is_promoted_for_all_on_purpose_and_given_back(copy):
    item = item_of(copy, "bob")
    (change,) = said(copy, "promote", item, scope="project").changes
    assert change["user_id"] is states(copy)[item]["user_id"] is None
    assert said(copy, "promote", item, scope="project").already == 1
    said(copy, "promote", item, scope="user")
    assert states(copy)[item]["user_id"] == "bob"
    assert said(copy, "promote", item).already == 1
    said(copy, "promote", item, scope="project")
    assert states(copy)[item]["user_id"] is None


def test_what_two_users_were_told_is_the_projects(copy):
    item = item_of(copy, None)
    with pytest.raises(WrongUseError, match="no single user"):
        said(copy, "promote", item, scope="user")
    said(copy, "promote", item)
    assert states(copy)[item]["user_id"] is None


def test_a_landed_candidate_of_a_user_stays_that_users(copy):
    with connected(copy, Narrowed()) as connection:
        ((item,),) = connection.sql("SELECT item_id FROM review_queue WHERE memory_ids = ['bob waits']").fetchall()
    said(copy, "promote", item)
    assert states(copy)["bob waits"]["user_id"] == "bob"
    said(copy, "promote", item, scope="project")
    assert states(copy)["bob waits"]["user_id"] is None


def test_a_rejected_or_merged_statement_stays_that_users_and_merges_into_no_other_users_memory(copy):
    item = item_of(copy, "bob")
    with pytest.raises(WrongUseError, match="ada port belongs to another user"):
        said(copy, "merge", item, into="ada port")
    said(copy, "merge", item, into="bob port")
    assert states(copy)[item]["user_id"] == "bob"
    said(copy, "reject", item)
    assert (states(copy)[item]["status"], states(copy)[item]["user_id"]) == ("invalid", "bob")


def test_no_question_to_a_model_and_no_proposed_merge_is_about_both(home):
    log = LogAsOf(Lake(Path(home.settings.lake)), AS_OF, home.settings.params())
    changes, wanted = open_questions(log)
    asked_about = [str(question.prompt) for question in build_questions(wanted, changes, log)]
    told = {user: [text for text in asked_about if word in text] for user, word in SECRETS.items()}
    assert min(map(len, told.values())) > 10
    # `shared` has the same words in both, and is compared with nothing of the other
    assert [text for text in told["ada"] if SECRETS["bob"] in text] == []
    with connected(home, Narrowed()) as connection:
        together = connection.sql("""
            SELECT q.item_id
            FROM (SELECT item_id, user_id, unnest(memory_ids) AS memory_id FROM review_queue) AS q
            JOIN memory_health AS h USING (memory_id)
            WHERE h.user_id IS DISTINCT FROM q.user_id
        """).fetchall()
    assert together == []


@pytest.mark.slow
def test_users_of_days_that_an_earlier_release_built_are_looked_up_in_the_log(home, tmp_path):
    """Its evidence has no column for them: what is NULL there is not nobody's."""
    old = SmallHome(tmp_path / "home")
    shutil.copytree(home.folder, old.folder, symlinks=True)
    for path in (old.folder / "lake" / "evidence" / "replayed_interactions").rglob("*.parquet"):
        pl.read_parquet(path).drop("user_id").write_parquet(path)
    assert old.nightly(AS_OF.replace(hour=1)).built == []
    query = "SELECT item_id, user_id, interactions_count FROM review_queue ORDER BY ALL"
    outcomes = "SELECT outcome_id, user_id FROM counted_outcomes ORDER BY ALL"
    with connected(home, Narrowed()) as now, connected(old, Narrowed()) as then:
        for asked_for in (query, outcomes):
            assert now.sql(asked_for).fetchall() == then.sql(asked_for).fetchall()
        assert ("ada o2", "ada") in then.sql(outcomes).fetchall()
