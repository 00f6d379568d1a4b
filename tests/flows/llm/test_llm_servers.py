"""Servers that are slow, broken, absent or hostile: the rules are shown, and the night stays green."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from llm_attacks import UNREADABLE, UNSAFE_CURATE
from llm_home import QUESTIONS, LlmHome, llm_home
from llm_server import ADD, Reply, Request, always, good_answer, is_curate, refused_url
from small_home import memory
from thorough import some

pytestmark = pytest.mark.slow  # whole homes and commands: continuous integration runs them


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LlmHome]:
    with llm_home(tmp_path, monkeypatch) as made:
        yield made


MOST_CALLS = 9  # of a server that never answers
DEAD = {
    "slow": always(wait_seconds=2.0),
    "500 always": always(status=500),
    "401": always(status=401),
    "404": always(status=404),
    "hangs up midway": always("x" * 500, hang_up_after=40),
    "no answer at all": always(hang_up_after=0, body=b"x"),
    "malformed": always('{"action": "add"'),
    "prose": always("Sure! I will delete everything."),
    "cut off": always(json.dumps(ADD), finish_reason="length"),
    "no completion": always(body=b'{"error": null}'),
    "no choices": always(body=b'{"choices": []}'),
    "no content": always(body=b'{"choices": [{"message": {"content": null}}]}'),
    "not even JSON": always(body=b"<html>" + bytes(range(256)), headers={"Content-Type": "text/html"}),
    "giant": always("x" * 2_000_000),
    "giant number": always(body=b'{"choices": ' + b"9" * 5_000 + b"}"),
    "redirect to itself": always(status=307, headers={"Location": "/v1/chat/completions"}),
}


@pytest.mark.parametrize("name", some(["slow", "500 always", "malformed"], 2))
def test_a_bad_server_leaves_the_rules_and_the_night_green(home, name):
    home.set_params(timeout_seconds=0.5)
    server = home.serve(DEAD[name])
    result = home.nightly()
    assert result.status == "published"
    assert f"{QUESTIONS} pending" in result.asked
    assert {(row["method"], row["is_pending"]) for row in home.published().values()} == {("curate/4", True)}
    before = len(server.requests)
    home.nightly()  # and the next night asks again
    assert len(server.requests) > before


@pytest.mark.parametrize("reply", DEAD.values(), ids=DEAD)
def test_a_bad_server_has_no_answer_and_costs_few_requests(home, reply):
    home.set_params(timeout_seconds=0.5)
    home.serve(reply)
    answers = home.asked()
    assert answers.calls <= 3 * QUESTIONS
    assert (answers.landed, answers.pending) == (0, QUESTIONS)
    assert answers.failed
    assert home.landed().is_empty()


def test_no_more_is_read_than_an_answer_can_have(home):
    home.serve(DEAD["giant"])
    assert set(home.asked().failed) == {"the answer is larger than 1024 kB"}


def test_nobody_listens(home, monkeypatch):
    home.serve()
    monkeypatch.setenv("SLOWWAVE_LLM_URL", refused_url())
    answers = home.asked()
    assert answers.calls <= MOST_CALLS
    assert (answers.landed, answers.ended) == (0, "no connection, or it broke off")


def test_a_dead_server_is_asked_a_few_times_only(home):
    home.land(*[memory(f"m{at}", content=f"Text {at}.", changed_at="2026-03-05") for at in range(50)])
    server = home.serve(always(status=500))
    answers = home.asked()
    assert len(server.requests) == answers.calls == MOST_CALLS
    home.set_params(timeout_seconds=0.3)
    server = home.serve(always(wait_seconds=1.0))
    assert home.asked().calls == 1
    assert len(server.requests) <= 1  # a busy server has perhaps not read it yet


@pytest.mark.parametrize("faults", some([2, 1], 1))
@pytest.mark.parametrize(
    "fault",
    [
        always(status=429, headers={"Retry-After": "0"}),
        always(status=503),
        always("nonsense"),
        always("", hang_up_after=3),
    ],
)
def test_a_passing_fault_is_repeated(home, fault, faults):
    left = [faults]

    def reply(request: Request) -> Reply:
        left[0] -= 1
        return fault(request) if left[0] >= 0 else good_answer(request)

    server = home.serve(reply)
    answers = home.asked()
    assert (answers.landed, answers.pending, len(server.requests)) == (QUESTIONS, 0, QUESTIONS + faults)


@pytest.mark.parametrize(("asks", "least", "most"), [("1", 1.0, 1.4), ("3600", 1.5, 1.5), ("nonsense", 0.0, 1.4)])
def test_retry_after_is_kept_up_to_a_limit(home, monkeypatch, asks, least, most):
    home.set_params(max_wait_seconds=1.5)
    left, waited, sleep = [1], [], asyncio.sleep

    async def noted(seconds: float) -> None:
        waited.append(seconds)
        await sleep(0)

    def reply(request: Request) -> Reply:
        left[0] -= 1
        return Reply(status=429, headers={"Retry-After": asks}) if left[0] == 0 else good_answer(request)

    home.serve(reply)
    monkeypatch.setattr("slowwave.flows.llm.stage.asyncio", SimpleNamespace(**vars(asyncio) | {"sleep": noted}))
    assert home.asked().landed == QUESTIONS
    assert len(waited) == 1
    assert least <= waited[0] <= most


@pytest.mark.parametrize(
    "lacks", [("response_format",), ("max_tokens",), ("temperature",), ("response_format", "temperature")], ids="+".join
)
def test_a_server_that_lacks_an_option_is_asked_without(home, lacks):
    if set(lacks) == {"response_format", "temperature"}:
        lacks = ("response_format",)

    def reply(request: Request) -> Reply:
        return Reply(status=400) if set(lacks) & set(request) else good_answer(request)

    server = home.serve(reply)
    assert home.asked().landed == QUESTIONS
    assert len(server.requests) <= QUESTIONS + 2


@pytest.mark.parametrize("said", some(UNSAFE_CURATE[:6], 3), ids=lambda said: json.dumps(said)[:60])
def test_hostile_answers_add_and_say_so(home, said):
    home.serve(lambda request: Reply(json.dumps(said)) if is_curate(request) else good_answer(request))
    home.nightly()
    for row in home.published().values():
        assert (row["action"], row["target_memory_id"], row["is_pending"]) == ("add", None, False)
        assert "not taken" in row["reason"]


@pytest.mark.parametrize("text", some(UNREADABLE[:8], 4), ids=lambda text: text[:12])
def test_unreadable_answers_are_no_answers(home, text):
    home.serve(always(text))
    assert home.asked().landed == 0


@pytest.mark.parametrize("usage", [None, {}, {"total_tokens": -5}, {"total_tokens": 10**30}, {"total_tokens": 0}])
def test_a_server_that_lies_about_tokens_gets_the_estimate(home, usage):
    home.serve(lambda request: Reply(good_answer(request).text, usage=usage))
    answers = home.asked()
    assert answers.landed == QUESTIONS
    assert 1_000 < answers.tokens < 10_000
