"""What a night may cost, and what a kill may lose."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from llm_home import QUESTIONS, TEXTS, LlmHome, llm_home
from llm_server import Reply, Request, always, data_of, good_answer
from small_home import memory


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LlmHome]:
    with llm_home(tmp_path, monkeypatch) as made:
        yield made


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 600
    while not holds():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


def test_no_more_requests_than_the_day_allows(home):
    home.set_params(calls_per_day=3)
    server = home.serve()
    first = home.asked()
    assert (first.landed, first.pending, len(server.requests)) == (3, 2, 3)
    assert first.ended == "the day's budget is spent"
    assert home.asked().landed == 0  # the same day
    assert len(server.requests) == 3
    home.set_params(calls_per_day=6)
    assert home.asked().landed == 2


def test_the_newest_come_first(home):
    home.set_params(calls_per_day=1)
    server = home.serve()
    home.asked()
    assert data_of(server.requests[0])["new"] == TEXTS["c"]


def test_failed_requests_count_in_their_own_run(home):
    home.set_params(calls_per_day=2)
    server = home.serve(always(status=500))
    home.asked()
    assert len(server.requests) == 2
    home.asked()
    assert len(server.requests) == 4


def test_an_answer_that_took_two_requests_counts_two_in_its_run_and_one_later(home):
    home.set_params(calls_per_day=3)
    server = home.serve(lambda request: Reply(status=503) if len(server.requests) == 1 else good_answer(request))
    first = home.asked()
    assert (first.landed, first.calls, first.ended) == (2, 3, "the day's budget is spent")
    assert (home.asked().landed, len(server.requests)) == (1, 4)


def test_tokens_are_kept_to_what_the_day_allows(home):
    home.set_params(tokens_per_day=3_000, answer_tokens=100, concurrency=1)
    home.serve(lambda request: Reply(good_answer(request).text, usage={"total_tokens": 1_200}))
    answers = home.asked()
    assert 1 <= answers.landed <= 2
    assert answers.ended == "the day's budget is spent"
    assert home.asked().landed == 0


def test_no_more_at_once_than_allowed(home):
    home.land(*[memory(f"m{at}", content=f"Text {at}.", changed_at="2026-03-05") for at in range(12)])
    home.set_params(concurrency=3, timeout_seconds=300)
    all_three = threading.Barrier(3)

    def reply(request: Request) -> Reply:
        # the first goes alone; the next three wait until all of them are there, and a moment for one too many
        if 1 < len(server.requests) <= 4:
            all_three.wait(timeout=300)
        return Reply(good_answer(request).text, wait_seconds=0.05)

    server = home.serve(reply)
    assert home.asked().pending == 0
    assert server.most_at_once == 3


def test_a_night_ends_in_time_and_keeps_what_it_has(home, monkeypatch):
    home.land(*[memory(f"m{at}", content=f"Text {at}.", changed_at="2026-03-05") for at in range(12)])
    home.set_params(concurrency=1, max_seconds=3000.0, timeout_seconds=3000)
    is_over = threading.Event()
    clock = SimpleNamespace(monotonic=lambda: 1000.0 * len(server.requests))  # each answer takes 1,000 seconds

    def reply(request: Request) -> Reply:
        if len(server.requests) > 3:
            is_over.wait(timeout=300)
        return good_answer(request)

    server = home.serve(reply)
    monkeypatch.setattr("slowwave.flows.llm.stage.time", clock)
    answers = home.asked()
    is_over.set()
    assert answers.landed == home.landed().height == 3
    assert answers.ended == "it took longer than 3000 s"


@pytest.mark.slow
def test_killed_midway_it_goes_on_where_it_was(home):
    home.land(*[memory(f"m{at}", content=f"Text {at}.", changed_at="2026-03-05") for at in range(8)])
    home.set_params(concurrency=2)
    server = home.serve(lambda request: Reply(good_answer(request).text, wait_seconds=0.1))
    command = [sys.executable, "-m", "slowwave.flows.cli.main", "review", "curate"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        wait_until(lambda: len(server.requests) >= 8)
        process.send_signal(signal.SIGKILL)
    wait_until(lambda: server.connections == 0)  # what it had sent has been read
    before = len(server.requests)
    kept = home.landed().height
    assert before - 2 <= kept <= before  # lost are at most the two under way
    answers = home.asked()
    assert answers.pending == 0
    assert len(server.requests) == before + answers.open
    assert home.landed()["decision_id"].is_unique().all()
    assert home.landed().height == kept + answers.open


@pytest.mark.slow
def test_two_at_once_land_every_answer_once(home):
    home.serve(lambda request: Reply(good_answer(request).text, wait_seconds=0.05))
    command = [sys.executable, "-m", "slowwave.flows.cli.main", "review", "curate", "--format", "json"]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) for _ in range(2)]
    outs = [json.loads(process.communicate(timeout=300)[0]) for process in both]
    assert sorted(out["answered"] for out in outs) == [0, QUESTIONS]
    assert home.landed()["decision_id"].is_unique().all()
