"""A language model in the night: what it answers is shown the same morning, and again whenever asked for."""

# ruff: noqa: DTZ001 - times are naive and hold UTC everywhere

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from llm_home import QUESTIONS, TEXTS, LlmHome, llm_home
from small_home import memory

from slowwave.flows.lake.current import current_run


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LlmHome]:
    with llm_home(tmp_path, monkeypatch) as made:
        yield made


def test_a_night_asks_and_shows_the_answers_the_same_morning(home):
    server = home.serve()
    result = home.nightly()
    rows = home.published()
    assert {row["method"] for row in rows.values()} == {"curate/llm-1:some-model"}
    assert {row["is_pending"] for row in rows.values()} == {False}
    assert (rows["b"]["action"], rows["b"]["target_memory_id"]) == ("merge", "a")
    assert (rows["a"]["action"], rows["a"]["target_memory_id"], rows["a"]["kind"]) == ("add", None, "model")
    assert len(server.requests) == home.landed().height == QUESTIONS
    assert result.asked == f"{QUESTIONS} answered with {QUESTIONS} requests and {120 * QUESTIONS} tokens"


def test_what_the_rules_say_of_the_same_changes_stands_beside(home):
    home.serve()
    home.nightly()
    rows = home.published()
    assert (rows["b"]["rules_action"], rows["a"]["rules_action"]) == ("update", "add")
    counted = json.loads(home.ask("sql", "model_and_rules", "--format", "json").stdout)
    assert sum(row["changes"] for row in counted) == len(rows)
    differing = [row for row in counted if row["is_same"] is False]
    assert ("update", "merge") in {(row["rules_action"], row["model_action"]) for row in differing}
    told = " ".join(home.ask("why", "b", "--all").stdout.split())
    assert "merge a (" in told
    assert ", says curate/llm-1:some-model; the rules say update a (" in told
    home.ask("report")
    page = (home.folder / "reports" / "latest.html").read_text()
    assert "A language model has answered about" in page


def test_asking_again_costs_nothing(home):
    server = home.serve()
    home.nightly()
    second = home.nightly()
    assert len(server.requests) == QUESTIONS
    assert second.status == "skipped"
    home.land(memory("d", content=TEXTS["a"] + " Always.", changed_at="2026-03-09"))
    home.nightly()
    assert len(server.requests) == QUESTIONS + 2


@pytest.mark.slow
def test_the_same_log_and_decisions_are_the_same_tables_without_any_server(home, monkeypatch):
    home.serve()
    home.nightly()
    as_of = datetime(2030, 1, 1)
    first = home.nightly(as_of)
    monkeypatch.delenv("SLOWWAVE_LLM_URL")
    again = home.nightly(as_of, full=True)
    hashes = [home.runs(run.serving, "table_hashes")[-1] for run in (first, again)]
    assert hashes[0] == hashes[1] != []
    assert first.run_id != again.run_id


@pytest.mark.slow
def test_what_was_believed_before_the_answers_can_be_had_again(home):
    before = home.nightly(datetime(2026, 6, 1))
    rules = home.published()
    assert {row["is_pending"] for row in rules.values()} == {True}
    home.serve()
    home.nightly()
    home.nightly(datetime(2026, 6, 1), full=True)
    assert before.serving is not None
    assert {name: row["reason"] for name, row in home.published().items()} == {n: r["reason"] for n, r in rules.items()}


def test_an_explicit_as_of_asks_nothing(home):
    server = home.serve()
    result = home.nightly(datetime(2026, 6, 1))
    assert (server.requests, result.asked) == ([], "")
    assert {row["is_pending"] for row in home.published().values()} == {True}


def test_without_a_model_nobody_is_asked_and_nothing_is_pending(home, monkeypatch):
    server = home.serve()
    monkeypatch.delenv("SLOWWAVE_LLM_MODEL")
    home.nightly()
    assert server.requests == []
    assert {row["is_pending"] for row in home.published().values()} == {False}


@pytest.mark.slow
def test_another_model_is_asked_anew_and_the_first_one_is_not_forgotten(home, monkeypatch):
    server = home.serve()
    home.nightly()
    monkeypatch.setenv("SLOWWAVE_LLM_MODEL", "another-model")
    home.nightly()
    assert len(server.requests) == 2 * QUESTIONS
    assert {row["method"] for row in home.published().values()} == {"curate/llm-1:another-model"}
    monkeypatch.setenv("SLOWWAVE_LLM_MODEL", "some-model")
    home.nightly()
    assert len(server.requests) == 2 * QUESTIONS
    assert {row["method"] for row in home.published().values()} == {"curate/llm-1:some-model"}


def test_runs_name_the_method_with_its_model(home):
    home.serve()
    home.nightly()
    (methods,) = home.runs(current_run(home.settings), "methods")
    assert {"curate/llm-1:some-model", "observe/llm-1:some-model"} <= set(methods)
