"""Two versions of a method compared on a real home: the right rows, nothing published, nothing left behind."""

from __future__ import annotations

import csv
import io
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
from each import each
from small_home import SmallHome, interaction, memory, outcome
from thorough import IS_THOROUGH
from tried_methods import tried

from slowwave.flows.kernel.lock import writer_lock
from slowwave.transforms.core.schema import Table
from slowwave.transforms.evidence.echo.echo import Echo, echo_matches, normalise_text
from slowwave.transforms.learning.learned import learned_in_order
from slowwave.transforms.learning.tables import Heuristics

LONG = "Deploy the ledger service only after the smoke tests are green and the on-call engineer has agreed in writing"
SAID = LONG[:60].lower()


def tried_pattern(content: pl.Expr, params: object) -> pl.Expr:
    """Half of what echo/1 looks for."""
    del params
    prefix = normalise_text(content).str.slice(0, 40)
    return pl.when(prefix.str.len_chars() >= 12).then(prefix)


# What `used/3` finds would be in the way.
QUOTES_ALONE = "[evidence.used]\nthreshold = 1\n"
TRIED = Echo(tried_pattern, echo_matches)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> SmallHome:
    made = SmallHome(tmp_path_factory.mktemp("compare") / "home")
    made.land(
        memory("long", content=LONG),
        memory("prices"),
        memory("other", project="forge", content="Tokens of the gateway expire after fifteen minutes, and never later"),
        memory("ada's", content="Prefers green tea and short answers in the morning", user_id="ada"),
        interaction("whole", response=f"{LONG}.", memories_used=["long"]),
        interaction(
            "half", response=f"Mind: {SAID}, they say", created_at="2026-03-03T09:00:00Z", memories_used=["ada's"]
        ),
        interaction("tea", response="Prefers green tea and short answers in the morning", user_id="bob"),
        interaction("forge", project="forge", response="Tokens of the gateway expire after fifteen minutes, ok"),
        outcome("o-whole", interaction_id="whole", strategy="patch the symptom", task_type="bugfix"),
        outcome("o-half", interaction_id="half", created_at="2026-03-03T10:00:00Z", success=False),
    )
    made.settings.params_file.write_text(QUOTES_ALONE)
    made.nightly()
    return made


def compared(home: SmallHome, *arguments: str) -> dict[str, Any]:
    done = home.ask("inspect", "compare", *arguments, "--format", "json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def fewer_letters(home: SmallHome) -> dict[str, Any]:
    """What a method changes that looks for half of what echo/1 looks for."""
    with tried("echo/1", "echo/99", implementation=TRIED, changed="Half as much must be repeated."):
        return compared(home, "echo/1", "echo/99", "--examples", "9")


def tables(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {table["table"]: table for table in found["tables"]}


def differing(found: dict[str, Any]) -> set[str]:
    counts = ("gained", "lost", "changed")
    return {table["table"] for table in found["tables"] if any(table[count] for count in counts)}


def test_a_second_version_is_computed_beside_the_first(fewer_letters: dict[str, Any]) -> None:
    of = tables(fewer_letters)
    references = of["memory_references"]
    assert (references["before"], references["gained"], references["lost"]) == (2, 2, 0)
    gained = [one for one in references["examples"] if one["change"] == "gained"]
    assert [one["key"] for one in gained] == [
        {"memory_id": "long", "interaction_id": "half"},
        {"memory_id": "other", "interaction_id": "forge"},
    ]
    assert [one["before"] for one in gained] == [None, None]
    # its name alone is no change: what both found is the same
    assert references["changed"] == 0
    (changed,) = (one for one in of["memory_health"]["examples"] if one["key"] == {"memory_id": "long"})
    assert (changed["before"]["echoed_count"], changed["after"]["echoed_count"]) == (1, 2)
    assert of["memory_health"]["columns"]["echoed_count"] == 2
    assert of["memory_days"]["is_evidence"]
    assert {"memory_days", "reference_days"} <= differing(fewer_letters)
    assert "extracted_statements" in of
    assert "extracted_statements" not in differing(fewer_letters)


def test_the_other_way_round_what_was_gained_is_lost(home: SmallHome, fewer_letters: dict[str, Any]) -> None:
    with tried("echo/1", "echo/99", implementation=TRIED, changed="Half as much must be repeated."):
        there, back = tables(fewer_letters), tables(compared(home, "echo/99", "echo/1"))
    for name, table in there.items():
        other = back[name]
        assert (table["before"], table["gained"], table["lost"]) == (other["after"], other["lost"], other["gained"])
        assert (table["changed"], table["columns"]) == (other["changed"], other["columns"]), name
        assert table["before"] + table["gained"] - table["lost"] == table["after"]


def test_a_version_that_only_has_another_name_changes_nothing(home: SmallHome) -> None:
    pairs = (("echo/1", "echo/99"), ("heuristic/3", "heuristic/99"))
    with tried(*pairs[0]), tried(*pairs[1]):
        for pair in pairs if IS_THOROUGH else pairs[1:]:
            assert differing(compared(home, *pair)) == set(), pair


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("eligible/1", "eligible/2", {"memory_health", "memory_days", "memory_eligibility"}),
        pytest.param("eligible/2", "eligible/3", set(), marks=pytest.mark.thorough),
    ],
)
def test_released_versions_are_compared(home: SmallHome, old: str, new: str, expected: set[str]) -> None:
    found = compared(home, old, new)
    assert (found["old"], found["new"]) == (old, new)
    assert expected <= differing(found)
    assert bool(expected) == bool(differing(found))


def test_with_the_method_in_use_it_is_what_is_published(home: SmallHome) -> None:
    with duckdb.connect(home.settings.current, read_only=True) as connection:
        published = dict(connection.execute("SELECT memory_id, verdict FROM memory_health").fetchall())
        count = connection.execute("SELECT count(*) FROM memory_health").fetchall()[0][0]
    found = compared(home, "eligible/1", "eligible/3", "--examples", "99")
    assert "memory_health" in differing(found)
    health = tables(found)["memory_health"]
    assert health["after"] == count
    for example in health["examples"]:
        assert (
            example["after"].get("verdict", published[example["key"]["memory_id"]])
            == published[example["key"]["memory_id"]]
        )


@pytest.mark.slow
def test_one_project(home: SmallHome) -> None:
    with tried("echo/1", "echo/99", implementation=TRIED, changed="Half as much must be repeated."):
        found = compared(home, "echo/1", "echo/99", "--project", "forge")
        nowhere = home.ask("inspect", "compare", "echo/1", "echo/99", "--project", "nowhere")
    assert tables(found)["memory_references"]["examples"][0]["key"]["memory_id"] == "other"
    assert tables(found)["memory_references"]["gained"] == tables(found)["memory_references"]["after"] == 1
    assert "project" not in tables(found)
    assert "reference_days" in found["not_compared"]
    assert (nowhere.returncode, nowhere.stdout) == (1, "")
    assert "no table has a row of project 'nowhere'" in nowhere.stderr


@pytest.mark.slow
def test_as_of(home: SmallHome) -> None:
    with tried("echo/1", "echo/99", implementation=TRIED, changed="Half as much must be repeated."):
        found = compared(home, "echo/1", "echo/99", "--as-of", "2026-03-03")
    assert found["as_of"] == "2026-03-03T00:00:00Z"
    assert tables(found)["memory_references"]["gained"] == 1


@pytest.mark.slow
def test_nothing_is_written_and_nobody_is_kept_waiting(
    home: SmallHome, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    untouched, aside = SmallHome(tmp_path / "home"), tmp_path / "aside"
    shutil.copytree(home.folder, untouched.folder, symlinks=True)
    aside.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(aside))
    with (
        writer_lock(untouched.settings, "nightly"),
        tried("echo/1", "echo/99", implementation=TRIED, changed="Half as much must be repeated."),
    ):
        before = untouched.contents()
        done = untouched.run(
            "inspect", "compare", "eligible/2", "eligible/3"
        )  # a process of its own, which another one's lock stops
        assert done.returncode == 0, done.stderr
        assert differing(compared(untouched, "echo/1", "echo/99"))
        assert untouched.contents() == before
    assert list(aside.iterdir()) == []


@each(
    ("old", "new", "said"),
    [
        ("echo/1", "echo/7", "echo/7 is no method; there "),
        ("banana/7", "echo/1", "banana/7 is no method; there are eligible/1, eligible/2, eligible/3, "),
        ("alma/1", "strength/2", "alma/1 is no method (ALMA's formula"),
        (
            "eligible/1",
            "echo/1",
            "eligible/1 and echo/1 are not two versions of one method; beside eligible/1 there are eligible/2",
        ),
        ("eligible/1", "eligible/1", "eligible/1 and eligible/1 are one; beside eligible/1 there are eligible/2"),
        ("used/2", "used/3", "used/2 was retired before a release had it: used/3 replaced it; there is used/3"),
        ("echo/1", "echo/1", "echo/1 and echo/1 are one; beside echo/1 there "),
        ("curate/4", "curate/llm-1", "curate/4 and curate/llm-1 are not two versions of one method; "),
        ("scorecard/2", "untried/1", "scorecard/2 is not computed alone: compare heuristic/3, which it goes with"),
        (
            "verdict/1",
            "verdict/4",
            "verdict/1 was retired after release 0.1.0: verdict/4 replaced it; there is verdict/4",
        ),
        ("scorecard/1", "scorecard/2", "scorecard/1 was retired after release 0.1.0: scorecard/2 replaced it; "),
        ("review_queue/3", "review_queue/6", "review_queue/3 was retired before a release had it: review_queue/6"),
        ("base_rate/1", "laplace/1", "base_rate/1 is not computed alone: no param chooses it"),
    ],
)
def test_what_cannot_be_compared_is_refused(home: SmallHome, old: str, new: str, said: str) -> None:
    done = home.ask("inspect", "compare", old, new)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_where_nothing_has_landed(tmp_path: Path) -> None:
    done = SmallHome(tmp_path / "home").ask("inspect", "compare", "eligible/2", "eligible/3")
    assert done.returncode == 1
    assert "nothing has been landed" in done.stderr
    assert not (tmp_path / "home").exists()


def too_sure(*arguments: Any) -> dict[type[Table], pl.DataFrame]:
    """heuristic/3, but for the confidence it tells."""
    tables_ = learned_in_order(*arguments)
    return {**tables_, Heuristics: tables_[Heuristics].with_columns(confidence=pl.lit(2.0))}


def test_a_method_that_an_audit_stops_says_so(home: SmallHome) -> None:
    with tried("heuristic/3", "heuristic/99", implementation=too_sure, changed="It is too sure."):
        done = home.ask("inspect", "compare", "heuristic/3", "heuristic/99")
    assert (done.returncode, done.stdout) == (1, "")
    assert "with heuristic/99 nothing could be published: " in done.stderr


@pytest.mark.slow
def test_as_a_table_and_as_csv(home: SmallHome) -> None:
    with tried("echo/1", "echo/99", implementation=TRIED, changed="Half as much must be repeated."):
        shown = home.ask("inspect", "compare", "echo/1", "echo/99")
        rows = home.ask("inspect", "compare", "echo/1", "echo/99", "--format", "csv")
    assert shown.stdout.startswith("echo/1 → echo/99 (evidence.echo_method), as of ")
    assert "gained long, half" in shown.stdout
    assert "echoed_count 1 → 2" in shown.stdout
    assert "slowwave: with echo/99" in shown.stderr
    listed = {row["table"]: row for row in csv.DictReader(io.StringIO(rows.stdout))}
    assert listed["memory_references"]["gained"] == "2"
    assert json.loads(listed["memory_references"]["examples"])[0]["change"] == "gained"
    unchanged = home.ask("inspect", "compare", "eligible/2", "eligible/3").stdout
    assert "no difference in " in unchanged


def test_methods_are_listed_with_those_in_use(home: SmallHome) -> None:
    rows = {row["method"]: row for row in json.loads(home.ask("inspect", "methods", "--format", "json").stdout)}
    assert rows["eligible/3"]["in_use"]
    assert not rows["eligible/1"]["in_use"]
    assert rows["scorecard/2"]["in_use"]
    shown = home.ask("inspect", "methods").stdout
    assert all(method in shown for method in rows)
    home.settings.params_file.write_text('[evidence]\necho_method = "banana/7"\n')
    try:
        done = home.ask("inspect", "methods", "--format", "csv")
    finally:
        home.settings.params_file.write_text(QUOTES_ALONE)
    assert done.returncode == 0
    assert "banana/7 is no method; there " in done.stderr
    assert len(done.stdout.splitlines()) == len(rows) + 1
