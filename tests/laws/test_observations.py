"""Observations in a real home: why lists what is counted, deliveries in any order and again change nothing."""

from __future__ import annotations

import json
import random
from datetime import timedelta
from pathlib import Path

import pytest

from slowwave.flows.cli import main as cli
from tests.laws.deliveries import START, jsonl
from tests.laws.home import Home

AS_OF = START + timedelta(days=20)
TABLES = ("observations", "curation_decisions")
PORT = "The API port of the gateway is {}"
ROWS = [
    *[
        {"memory_id": f"dark{n}", "changed_at": START + timedelta(hours=n), "project": "shop", "status": "active",
         "content": text, "source_ids": [f"chat {n % 2}"]}
        for n, text in enumerate(["User prefers dark mode", "The user prefers dark mode.", "Users prefer dark mode"])
    ],
    {"memory_id": "old", "changed_at": START, "project": "shop", "status": "active", "content": PORT.format(8080)},
    {"memory_id": "new", "changed_at": START + timedelta(days=2), "project": "shop", "status": "active",
     "content": PORT.format(9090), "source_ids": ["ticket"]},
    *[
        {"interaction_id": f"i{n}", "created_at": START + timedelta(days=3, hours=n), "project": "shop", "prompt": "?",
         "response": f"As I recall: {PORT.format(9090)}.", "success": n > 0}
        for n in range(3)
    ],
]  # fmt: skip


def _published(home: Home, parts: list[list[dict[str, object]]]) -> dict[str, object]:
    for number, part in enumerate(parts):
        home.drop(f"{number}.jsonl", jsonl(part))
        home.nightly(AS_OF)
    return {name: home.table(name) for name in TABLES}


@pytest.mark.slow
def test_any_split_order_and_redelivery_gives_the_same_proof(tmp_path: Path) -> None:
    whole = _published(Home(tmp_path / "whole"), [ROWS])
    shuffled = list(ROWS)
    random.Random(1).shuffle(shuffled)
    parts = [shuffled[:3], shuffled[3:], ROWS, shuffled[2:5]]
    assert _published(Home(tmp_path / "parts"), parts) == whole
    facts = {row["text"]: row for row in whole["observations"]}  # type: ignore[attr-defined]
    assert facts[PORT.format(9090)]["supersedes"] == ["old"]
    assert facts[PORT.format(9090)]["source_ids"] == ["ticket"]
    dark = [row for row in facts.values() if "dark0" in row["memory_ids"]]
    assert [row["source_ids"] for row in dark] == [["chat 0", "chat 1"]]


def test_what_is_taken_back_is_published_nowhere(tmp_path: Path) -> None:
    """The audits of a publish hold where an active memory is behind no observation, because it was taken back."""
    home = Home(tmp_path / "home")
    tea = {**ROWS[0], "memory_id": "tea", "content": "The user likes green tea", "source_ids": None}
    forget = {**tea, "memory_id": "forget", "changed_at": AS_OF - timedelta(days=1),
              "content": "Forget that the user likes green tea"}  # fmt: skip
    found = _published(home, [[*ROWS, tea, forget]])
    told = {memory for row in found["observations"] for memory in (*row["memory_ids"], *row["supersedes"])}  # type: ignore[attr-defined]
    assert not told & {"tea", "forget"}
    assert "dark0" in told


def test_why_lists_exactly_what_is_counted(tmp_path: Path, capfd, monkeypatch: pytest.MonkeyPatch) -> None:
    home = Home(tmp_path / "home")
    _published(home, [ROWS])
    monkeypatch.setenv("SLOWWAVE_HOME", str(home.folder))
    for row in home.table("observations"):
        assert cli._exit_code(["why", row["observation_id"], "--format", "json"]) == 0
        found = json.loads(capfd.readouterr().out)
        assert found["counts"]["sources"] == row["proof_count"]
        for name, count in found["counts"].items():
            assert len(found[name]) == count, name
        assert cli._exit_code(["why", row["observation_id"], "--all"]) == 0
        shown = capfd.readouterr().out
        assert f"sources {row['proof_count']}:" in shown
        assert row["text"] in " ".join(shown.split())


def test_the_referenced_fact_has_its_references_and_journey(tmp_path: Path, capfd, monkeypatch) -> None:
    home = Home(tmp_path / "home")
    _published(home, [ROWS])
    monkeypatch.setenv("SLOWWAVE_HOME", str(home.folder))
    (row,) = [row for row in home.table("observations") if row["best_memory_id"] == "new"]
    cli._exit_code(["why", row["observation_id"], "--format", "json"])
    found = json.loads(capfd.readouterr().out)
    assert {reference["interaction_id"] for reference in found["references"]} == {"i0", "i1", "i2"}
    assert [step["memory_id"] for step in found["journey"]] == ["old", "new"]
    assert [memory["memory_id"] for memory in found["superseded"]] == ["old"]
    assert [(one["memory_id"], one["action"]) for one in found["decisions"]] == [("old", "add"), ("new", "update")]


@pytest.mark.parametrize("count", [0, 1])
def test_a_lake_with_no_memory_or_one_is_published(tmp_path: Path, count: int) -> None:
    home = Home(tmp_path / "home")
    found = _published(home, [[ROWS[-1], *ROWS[:count]]])
    assert [len(found[name]) for name in TABLES] == [count, count]  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_crash_between_delete_and_insert_cannot_be(tmp_path: Path) -> None:
    """A publish that fails leaves yesterday's observations; the next one has all of today's."""
    home = Home(tmp_path / "home")
    before = _published(home, [ROWS[:3]])
    path = home.current
    home.drop("more.jsonl", jsonl(ROWS[3:]))

    def failing(*_: object, **__: object) -> None:
        message = "embedding is down"
        raise OSError(message)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("slowwave.flows.publish.word_vectors.word_vectors", failing)
        with pytest.raises(OSError, match="embedding is down"):
            home.nightly(AS_OF)
    assert home.current == path
    assert {name: home.table(name) for name in TABLES} == before
    home.nightly(AS_OF)
    assert {memory for row in home.table("observations") for memory in (*row["memory_ids"], *row["supersedes"])} == {
        "dark0", "dark1", "dark2", "old", "new",
    }  # fmt: skip
