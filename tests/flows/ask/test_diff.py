"""`slowwave inspect diff` on real publishes: which runs are meant, what changed, and what is shown of it."""

from __future__ import annotations

import json
import shutil
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest
from small_home import MEMORY, SmallHome, interaction, memory

from slowwave.flows.ask.connection import find_run
from slowwave.flows.ask.diff import EXAMPLES, publish_diff
from slowwave.flows.cli.main import main
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.lake.current import current_run

pytestmark = pytest.mark.slow  # whole homes and commands: continuous integration runs them

NAME = "a 'home'; DROP [it]"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SmallHome:
    folder = tmp_path / NAME
    monkeypatch.setenv("SLOWWAVE_HOME", str(folder))
    monkeypatch.chdir(tmp_path)
    return SmallHome(folder)


def utc(day: int) -> datetime:
    """Midnight of a day in March 2026."""
    return datetime(2026, 3, day)  # noqa: DTZ001 - naive times hold UTC


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A folder with a home and its logs, published twice, and the runs."""
    home = SmallHome(tmp_path_factory.mktemp("diff") / NAME)
    other = memory("m2", content="The cellar has another door behind green shelves near the loading ramp.")
    home.land(memory("m1"), other, memory("m4", project="other"), interaction("i1", memories_used=["m1"]))
    first = home.nightly(utc(3)).run_id
    home.land(
        interaction("i2", created_at="2026-03-03T09:00:00Z", response=f"{MEMORY[:-1]} of m1. So there."),
        interaction("i3", created_at="2026-03-04T09:00:00Z", memories_used=["m2"]),
        memory("m1", changed_at="2026-03-03T10:00:00Z", status="archived"),
        memory("m3", changed_at="2026-03-03T10:00:00Z", content="\x1b]0;owned\x07[red]new\u202e"),
    )
    return home.folder.parent, [first, home.nightly(utc(10)).run_id]


@pytest.fixture
def twice(home: SmallHome, template: tuple[Path, list[str]]) -> list[str]:
    """Two publishes, by run id: in between m1 is echoed and archived, m2 injected, m3 new; m4 stays as it was."""
    shutil.copytree(template[0], home.folder.parent, symlinks=True, dirs_exist_ok=True)
    return template[1]


def diff(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    with pytest.raises(SystemExit) as done:
        main(["inspect", "diff", *arguments, "--format", "json"])
    assert not done.value.code
    return json.loads(capsys.readouterr().out)


def ids(change: dict[str, Any]) -> list[str]:
    return [example["memory_id"] for example in change["examples"]]


def test_rows_are_counted_by_what_became_of_them(twice: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    found = diff(capsys)
    assert [found["before"]["run_id"], found["after"]["run_id"]] == twice
    tables = {table["table"]: table for table in found["tables"]}
    health = tables["memory_health"]
    assert (health["before"], health["after"]) == (3, 4)
    assert (health["added"], health["removed"], health["changed"]) == (1, 0, 2)
    # as the model has it
    used = {name: count for name, count in health["columns"].items() if name.startswith(("use", "detect"))}
    assert health["columns"] == used | {
        "status": 1,
        "eligible_count": 2,
        "injected_count": 1,
        "echoed_count": 1,
        "reference_count": 1,
        "first_referenced_at": 1,
        "last_referenced_at": 1,
        "verdict": 1,
    }
    references = tables["memory_references"]
    assert (references["added"], references["removed"], references["changed"]) == (2, 0, 0)
    assert tables["run_files"]["added"] == 1
    assert (found["tables_only_before"], found["tables_only_after"], found["unknown_tables"]) == ([], [], [])


@pytest.mark.usefixtures("twice")
def test_memories_worth_a_look(capsys: pytest.CaptureFixture[str]) -> None:
    memories = diff(capsys)["memories"]
    assert {kind: (change["count"], ids(change)) for kind, change in memories.items()} == {
        "status_changed": (1, ["m1"]),
        "new": (1, ["m3"]),
        "gone": (0, []),
        "reference_count": (1, ["m1"]),
        "injected_count": (1, ["m2"]),
        "eligible_count": (2, ["m2", "m1"]),
    }
    (status,) = memories["status_changed"]["examples"]
    assert (status["before"], status["after"]) == ("active", "archived")
    assert [(row["before"], row["after"]) for row in memories["eligible_count"]["examples"]] == [(1, 3), (1, 2)]


def rows_of(found: dict[str, Any], table: str) -> list[tuple[str, tuple[Any, ...], Any, Any]]:
    (changes,) = (changes for changes in found["rows"] if changes["table"] == table)
    return [(row["change"], tuple(row["key"].values()), row["before"], row["after"]) for row in changes["rows"]]


@pytest.fixture
def eligible_again(home: SmallHome, twice: list[str]) -> list[str]:
    """A third publish, after an interaction for which every active memory of its project was eligible, and no more."""
    home.land(interaction("i4", created_at="2026-03-11T09:00:00Z"))
    return [*twice, home.nightly(utc(12)).run_id]


@pytest.mark.usefixtures("twice")
def test_rows_that_changed_are_listed_by_key_with_what_changed(capsys: pytest.CaptureFixture[str]) -> None:
    found = diff(capsys, "--limit", "99")
    listed = rows_of(found, "memory_health")
    assert [(change, key) for change, key, *_ in listed] == [
        ("added", ("m3",)), ("changed", ("m1",)), ("changed", ("m2",)),
    ]  # fmt: skip
    (_, _, before, after), m1, m2 = listed
    assert (before, after["status"], after["content"]) == (None, "active", "\x1b]0;owned\x07[red]new\u202e")
    assert (m1[2]["status"], m1[3]["status"]) == ("active", "archived")
    counts = [{name: count for name, count in side.items() if name.endswith("_count")} for side in m2[2:] if side]
    assert counts == [{"eligible_count": 1, "injected_count": 0}, {"eligible_count": 3, "injected_count": 1}]
    for diffed, changes in zip((one for one in found["tables"] if differ(one)), found["rows"], strict=True):
        assert diffed["table"] == changes["table"]
        assert len(changes["rows"]) + changes["only_eligibility"] == differ(diffed)


def differ(table: dict[str, Any]) -> int:
    return table["added"] + table["removed"] + table["changed"]


@pytest.mark.usefixtures("eligible_again")
def test_rows_that_only_count_eligibility_are_left_out_and_counted(capsys: pytest.CaptureFixture[str]) -> None:
    found = diff(capsys)
    left_out = {changes["table"]: changes["only_eligibility"] for changes in found["rows"]}
    assert (left_out["memory_health"], left_out["memory_health_history"]) == (2, 2)
    assert rows_of(found, "memory_health") == rows_of(found, "memory_health_history") == []
    everything = diff(capsys, "--all")
    assert all(not changes["only_eligibility"] for changes in everything["rows"])
    assert [row[:2] for row in rows_of(everything, "memory_health")] == [("changed", ("m2",)), ("changed", ("m3",))]
    assert rows_of(everything, "memory_health")[0][2:] == ({"eligible_count": 3}, {"eligible_count": 4})
    assert [row[:2] for row in rows_of(everything, "memory_health_history")] == [
        ("added", ("m2", "2026-03-11")), ("added", ("m3", "2026-03-11")),
    ]  # fmt: skip
    backwards = diff(capsys, "current", "previous")
    assert {one["table"]: one["only_eligibility"] for one in backwards["rows"]} == left_out
    for said, arguments in (("without 2 rows that only count eligibility (--all shows them)", []), ("m2", ["--all"])):
        with pytest.raises(SystemExit):
            main(["inspect", "diff", "--table", "memory_health", *arguments])
        text = " ".join(capsys.readouterr().out.split())
        assert said in text
        assert ("memories eligible more or less often" in text) is bool(arguments)


def test_a_first_row_and_a_row_with_more_than_eligibility_stay(
    eligible_again: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    history = rows_of(diff(capsys, *eligible_again[:2]), "memory_health_history")
    assert [row[:2] for row in history] == [
        ("added", ("m1", "2026-03-03")), ("added", ("m2", "2026-03-04")), ("added", ("m3", "2026-03-03")),
    ]  # fmt: skip


@pytest.mark.usefixtures("twice")
def test_tables_and_a_number_of_rows_can_be_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    found = diff(capsys, "--table", "memory_references", "--table", "runs", "--limit", "1")
    assert [table["table"] for table in found["tables"]] == ["memory_references", "runs"]
    assert [len(changes["rows"]) for changes in found["rows"]] == [1, 1]
    assert found["memories"] == {}
    assert all(not changes["rows"] for changes in diff(capsys, "--limit", "0")["rows"])
    with pytest.raises(SystemExit):
        main(["inspect", "diff", "--table", "memory_references", "--limit", "1"])
    assert "memory_references: 2 rows differ; 1 shown (--limit)" in capsys.readouterr().out
    for arguments, code, complaint in (
        (["--table", "memory_helth"], 1, "did you mean memory_health"),
        (["--table", "runs'; DROP TABLE runs"], 1, "is no published table"),
        (["--limit", "-1"], 2, "limit"),
    ):
        with pytest.raises(SystemExit) as done:
            main(["inspect", "diff", *arguments])
        assert (done.value.code, complaint in capsys.readouterr().err) == (code, True)


@pytest.mark.usefixtures("twice")
def test_backwards_everything_is_turned_round(capsys: pytest.CaptureFixture[str]) -> None:
    found = diff(capsys, "current", "previous")
    health = next(table for table in found["tables"] if table["table"] == "memory_health")
    assert (health["added"], health["removed"], health["changed"]) == (0, 1, 2)
    assert ids(found["memories"]["gone"]) == ["m3"]
    assert found["memories"]["new"]["count"] == 0
    assert ids(found["memories"]["eligible_count"]) == ["m2", "m1"]


def test_a_run_does_not_differ_from_itself(twice: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    found = diff(capsys, twice[1], "current")
    assert found["differs"] == []
    assert all(table["added"] == table["removed"] == table["changed"] == 0 for table in found["tables"])
    assert not any(change["count"] for change in found["memories"].values())


def test_run_id_and_as_of_alone_are_no_change(home: SmallHome, capsys: pytest.CaptureFixture[str]) -> None:
    home.land(memory("m1"), interaction("i1", memories_used=["m1"]))
    home.nightly(utc(10))
    home.nightly(utc(11))
    found = diff(capsys)
    assert {"run_id", "as_of", "finished_at"} == set(found["differs"])
    published = {"memory_health", "memory_health_history", "memory_references"}
    counts = [
        (table["added"], table["removed"], table["changed"]) for table in found["tables"] if table["table"] in published
    ]
    assert counts == [(0, 0, 0)] * 3


def test_other_params_are_told(home: SmallHome, capsys: pytest.CaptureFixture[str]) -> None:
    home.land(memory("m1", confidence=0.5), interaction("i1", response=f"{MEMORY[:-1]} of m1."))
    home.nightly(utc(10))
    home.settings.params_file.write_text("reinforcement_delta = 0.1\n")
    home.nightly(utc(10))
    found = diff(capsys)
    assert "params_hash" in found["differs"]
    assert "as_of" not in found["differs"]
    health = next(table for table in found["tables"] if table["table"] == "memory_health")
    assert health["columns"] == {"reinforced_confidence": 1}


def test_examples_are_few_and_counts_are_full(home: SmallHome, capsys: pytest.CaptureFixture[str]) -> None:
    home.land(memory("m"))
    home.nightly(utc(2))
    many = EXAMPLES + 5
    home.land(*(memory(f"new-{number:03}", changed_at="2026-03-02T01:00:00Z") for number in range(many)))
    home.nightly(utc(3))
    new = diff(capsys)["memories"]["new"]
    assert (new["count"], ids(new)) == (many, [f"new-{number:03}" for number in range(EXAMPLES)])


def test_the_start_of_an_id_names_a_run(home: SmallHome, twice: list[str]) -> None:
    start = next(twice[0][:length] for length in range(1, 99) if not twice[1].startswith(twice[0][:length]))
    assert find_run(home.settings, start).stem == twice[0]
    assert find_run(home.settings, "current") == current_run(home.settings)


@pytest.mark.usefixtures("twice")
@pytest.mark.parametrize("named", ["2", "", "*", "../runs", "no-such-run"])
def test_what_names_no_run_or_several_is_told(home: SmallHome, named: str) -> None:
    with pytest.raises(UserError, match="2 runs" if named == "2" else "no serving file"):
        find_run(home.settings, named)


def test_previous_is_the_publish_before_whose_file_is_there(home: SmallHome, twice: list[str]) -> None:
    third = home.nightly(utc(5)).run_id
    assert find_run(home.settings, "current").stem == third
    assert find_run(home.settings, "previous").stem == twice[1]
    find_run(home.settings, twice[1]).unlink()
    assert find_run(home.settings, "previous").stem == twice[0]
    find_run(home.settings, twice[0]).unlink()
    with pytest.raises(UserError, match="publish before"):
        find_run(home.settings, "previous")


@pytest.mark.parametrize("state", ["absent", "empty", "never published", "newer"])
def test_a_home_with_nothing_to_compare_says_so(
    home: SmallHome, capsys: pytest.CaptureFixture[str], state: str
) -> None:
    if state == "empty":
        home.folder.mkdir()
    elif state != "absent":
        home.land(memory("m1"))
        if state == "newer":
            home.nightly()
            (home.folder / "lake" / "FORMAT").write_text("99")
    with pytest.raises(SystemExit) as done:
        main(["inspect", "diff"])
    said = capsys.readouterr()
    assert (done.value.code, said.out) == (1, "")
    assert ("upgrade slowwave" if state == "newer" else "nothing is published yet") in said.err
    assert home.folder.exists() is (state != "absent")


def test_files_of_other_versions_are_compared_as_far_as_they_go(
    home: SmallHome, twice: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with duckdb.connect(find_run(home.settings, twice[1])) as connection:
        connection.execute("CREATE TABLE predictions (strategy VARCHAR)")
        connection.execute('ALTER TABLE memory_health ADD COLUMN "trend"" x" VARCHAR')
        connection.execute("ALTER TABLE memory_health ALTER COLUMN created_at TYPE DATE")
        connection.execute("ALTER TABLE memory_health DROP COLUMN reference_count")
        connection.execute("ALTER TABLE runs DROP COLUMN methods")
        connection.execute("DROP TABLE quarantine")
    found = diff(capsys)
    assert (found["tables_only_before"], found["tables_only_after"]) == (["quarantine"], ["predictions"])
    health = next(table for table in found["tables"] if table["table"] == "memory_health")
    assert health["not_compared"] == ["created_at", "reference_count", 'trend" x']
    assert (health["added"], health["columns"]["status"]) == (1, 1)
    assert found["memories"] == {}
    assert found["after"]["methods"] is None
    with duckdb.connect(find_run(home.settings, twice[0])) as connection:
        connection.execute("CREATE TABLE predictions (strategy VARCHAR)")
    assert diff(capsys)["unknown_tables"] == ["predictions"]
    with pytest.raises(SystemExit):
        main(["inspect", "diff"])
    assert "not known to this version, so not compared: predictions" in " ".join(capsys.readouterr().out.split())


def test_a_file_that_is_no_database_is_told(home: SmallHome, twice: list[str]) -> None:
    broken = find_run(home.settings, twice[0])
    broken.write_bytes(b"broken")
    with pytest.raises(UserError, match="cannot be opened"):
        publish_diff(broken, find_run(home.settings, twice[1]))


def test_text_fits_100_columns_and_obeys_nothing(
    home: SmallHome, twice: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    home.land(*(memory(f"long-{n}-" + "x" * 300, project="p" * 300, content="c" * 300) for n in range(7)))
    home.nightly(utc(12))
    for arguments in (["inspect", "diff"], ["inspect", "diff", twice[0], "current"]):
        with pytest.raises(SystemExit):
            main(arguments)
        text = capsys.readouterr().out
        assert max(map(len, text.splitlines())) <= 100
        assert "7 new memories, of which:" in text or "8 new memories, of which:" in text
    assert "active → archived" in text
    with pytest.raises(SystemExit):
        main(["inspect", "diff", twice[0], twice[1]])
    text = capsys.readouterr().out
    assert r"\x1b]0;owned\x07[red]new\u202e" in text
    assert "\x1b" not in text


@pytest.mark.usefixtures("twice")
def test_a_read_only_home_is_enough_and_nothing_is_written(home: SmallHome) -> None:
    before = home.contents()
    done = home.run_unable_to_write("inspect", "diff")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("run_id")
    assert home.contents() == before
    assert sorted(path.name for path in home.folder.parent.iterdir() if path != home.folder) == [
        f"{home.folder.name}-log-{number}.jsonl" for number in (1, 2)
    ]
