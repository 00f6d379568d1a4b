"""An export's rows as interactions and outcomes, by either generation of its tables."""

from __future__ import annotations

import random
from datetime import datetime, timedelta, timezone
from typing import Any

import orjson
import pytest
from each import each
from hypothesis import given
from hypothesis import strategies as st
from langfuse_rows import PROJECT, made, observation, root_of_v2, score, trace
from otlp_documents import left_out, refused, rows

from slowwave.transforms.imports.langfuse import Langfuse


def only(*told: dict[str, Any], key: str = "interaction_id", **options: Any) -> dict[str, Any]:
    (one,) = rows(made(*told, **options), key)
    return one


def test_a_trace_is_an_interaction() -> None:
    assert only(trace(), observation()) == {
        "interaction_id": f"langfuse:{PROJECT}:t-1",
        "created_at": "2026-08-01T10:00:00Z",
        "recorded_at": "2026-08-01T10:00:06.000002Z",
        "project": PROJECT,
        "agent": "support",
        "session_id": "s-1",
        "user_id": "ann",
        "prompt": "Which port?",
        "response": "5432.",
        "tokens": 15,
        "cost": 0.002,
        "model": "model-x",
        "environment": "default",
    }


def test_the_topmost_observation_is_one_where_traces_are_no_longer_exported() -> None:
    found = only(root_of_v2(), observation(parent_observation_id="o-0"))
    assert found["interaction_id"] == f"langfuse:{PROJECT}:t-1"
    assert (found["prompt"], found["response"], found["agent"]) == ("Which port?", "5432.", "support")
    assert found["tokens"] == 15


def test_columns_that_are_switched_off_are_done_without() -> None:
    core = {"id", "trace_id", "start_time", "end_time", "project_id", "parent_observation_id", "type", "input"}
    bare = {name: value for name, value in root_of_v2().items() if name in core}
    found = only(bare)
    assert found["recorded_at"] == "2026-08-01T10:00:03.500001Z"
    assert Langfuse().detect_producer([bare]) == "Langfuse observations"


@pytest.mark.parametrize(
    ("value", "prompt", "form"),
    [
        ("Which port?", "Which port?", None),
        ('"Which port?"', "Which port?", None),
        ('{"messages": [{"role": "user", "content": "Hi"}, {"role": "user", "content": "Which port?"}]}', "Which port?",
         None),
        ('[{"role": "system", "content": "."}, {"role": "user", "content": "Which port?"}]', "Which port?", None),
        ({"query": "Which port?"}, "Which port?", None),
        ({"args": [1]}, '{"args":[1]}', "json"),
        ("{not json", "{not json", None),
    ],
)  # fmt: skip
def test_inputs_are_texts_messages_or_objects(value: object, prompt: str, form: str | None) -> None:
    found = only(trace(input=value))
    assert (found["prompt"], found.get("prompt_form")) == (prompt, form)


@pytest.mark.parametrize(
    ("value", "response"),
    [
        ("5432.", "5432."),
        ('{"role": "assistant", "content": "5432."}', "5432."),
        ('{"choices": [{"message": {"role": "assistant", "content": "5432."}}]}', "5432."),
        ({"output": {"content": "5432."}}, "5432."),
        ('[{"role": "tool", "content": "x"}, {"role": "assistant", "content": "5432."}]', "5432."),
        ("", None),
    ],
)
def test_outputs_likewise(value: object, response: str | None) -> None:
    assert only(trace(output=value)).get("response") == response


def test_a_trace_without_its_own_input_has_that_of_its_calls() -> None:
    call = observation(input='[{"role": "user", "content": "Which port?"}]', output="5432.")
    found = only(trace(input="", output=""), call)
    assert (found["prompt"], found["response"]) == ("Which port?", "5432.")
    assert "traces without an input" in "".join(left_out(made(trace(input=""))))


def test_tokens_are_of_the_calls_that_none_is_below() -> None:
    outer = observation("o-1", usage_details='{"total": "100"}', total_cost="1")
    inner = observation("o-2", parent_observation_id="o-1", usage_details=[("input", 3), ("output", 4)], total_cost="",
                        cost_details=[{"key": "total", "value": 0.5}])  # fmt: skip
    found = only(trace(), outer, inner)
    assert (found["tokens"], found["cost"]) == (7, 0.5)


def test_rows_at_the_boundary_of_two_windows_come_twice_and_later_ones_win() -> None:
    late = trace(output="5433.", updated_at="2026-08-01 12:00:00.000")
    assert only(trace(), late, trace())["response"] == "5433."
    assert only(late, trace(), trace())["response"] == "5433."


def test_a_later_reading_that_knows_more_is_a_later_version() -> None:
    before, after = only(trace()), only(trace(), observation())
    assert before["recorded_at"] < after["recorded_at"]


def test_what_langfuse_runs_itself_is_left_out() -> None:
    found = made(trace(environment="langfuse-llm-as-a-judge"))
    assert rows(found, "interaction_id") == []
    assert sum(left_out(found).values()) == 1


def test_observations_that_are_named_offer_memories() -> None:
    memories = [
        {"id": "m-1", "memory": "The port of the database is 5432.", "score": 0.9},
        {"id": "m-2", "memory": "Lint"},
    ]
    search = observation("o-2", type="TOOL", name="search_memory", output=orjson.dumps({"results": memories}).decode(),
                         end_time="2026-08-01 10:00:01.000")  # fmt: skip
    call = observation(input=[{"role": "system", "content": "Known: the port of the database is 5432."},
                              {"role": "user", "content": "Which port?"}])  # fmt: skip
    found = only(trace(), search, call, memory_searches=["search_memory"])
    assert found["memories_offered"] == [
        {"id": "m-1", "rank": 1, "score": 0.9},
        {"id": "m-2", "rank": 2, "score": None},
    ]
    assert (found["memories_used"], found["injection"]) == (["m-1"], "observed")
    assert "memories_offered" not in only(trace(), search, call)


def test_an_error_of_the_topmost_observation_is_an_outcome() -> None:
    failed = root_of_v2(level="ERROR", status_message="no answer", latency=3.5)
    found = only(failed, key="outcome_id")
    assert (found["success"], found["error_message"], found["duration_ms"]) == (False, "no answer", 3500.0)
    assert "attempted" not in found


@each(
    ("told", "success"),
    [
        ({}, True),
        ({"value": "0", "string_value": "False"}, False),
        ({"data_type": "CATEGORICAL", "value": 0, "string_value": "good"}, True),
        ({"data_type": "CATEGORICAL", "value": 0, "string_value": "Incorrect", "name": "other"}, False),
        ({"data_type": "NUMERIC", "value": 0.8, "string_value": "", "name": "relevance"}, True),
        ({"data_type": "NUMERIC", "value": "0.2", "string_value": "", "name": "relevance"}, False),
        ({"data_type": "NUMERIC", "value": 0.8, "string_value": ""}, None),
        ({"data_type": "TEXT", "value": 0, "string_value": "nice"}, None),
    ],
)
def test_scores_that_judge_are_outcomes(told: dict[str, Any], success: bool | None) -> None:
    rules = {"relevance": {"at_least": 0.5}}
    if told.get("data_type") == "CATEGORICAL" and "name" not in told:
        rules["helpful"] = {"pass": ["good"]}  # type: ignore[dict-item]
    found = made(score(**told), evaluations=rules)
    assert [one["success"] for one in rows(found, "outcome_id")] == ([] if success is None else [success])
    assert bool(left_out(found)) == (success is None)


def test_a_score_says_who_gave_it() -> None:
    found = only(score(comment="Thanks"), key="outcome_id")
    assert found == {
        "outcome_id": "langfuse:sc-1",
        "interaction_id": f"langfuse:{PROJECT}:t-1",
        "created_at": "2026-08-01T11:00:00Z",
        "recorded_at": "2026-08-01T11:00:01Z",
        "success": True,
        "feedback": "Thanks",
        "basis": "reported",
        "basis_method": "langfuse:helpful",
        "evaluation": {"name": "helpful", "label": "True", "score": 1.0},
        "score_source": "ANNOTATION",
    }
    assert only(score(source="EVAL"), key="outcome_id")["basis"] == "evaluated"


def test_a_score_of_a_session_is_of_no_interaction_and_one_of_a_data_set_is_left_out() -> None:
    found = only(score(trace_id="", session_id="s-1"), key="outcome_id")
    assert "interaction_id" not in found
    assert found["session_id"] == "s-1"
    of_run = made(score(trace_id="", dataset_run_id="run-1"))
    assert rows(of_run, "outcome_id") == []
    assert sum(left_out(of_run).values()) == 1


@pytest.mark.parametrize(
    "row",
    [
        score(timestamp="never"),
        score(id=""),
        observation(trace_id=""),
        trace(timestamp="2026-13-01"),
        trace(""),
        {"id": "x", "prompt": "hello"},
        {"id": {"deep": [1]}, "timestamp": []},
    ],
)
def test_what_cannot_be_told_is_refused(row: dict[str, Any]) -> None:
    assert len(refused(made(row))) == 1


def test_times_of_parquet_are_times() -> None:
    at = datetime(2026, 8, 1, 12, tzinfo=timezone(timedelta(hours=2)))
    found = only(trace(timestamp=at, updated_at=at.replace(tzinfo=None)))
    assert found["created_at"] == "2026-08-01T10:00:00Z"


@given(st.randoms(use_true_random=False))
def test_order_and_repetition_change_nothing(random_: random.Random) -> None:
    told = [
        trace(), observation(), observation("o-2", parent_observation_id="o-1"), score(), root_of_v2(trace_id="t-2"),
        observation("o-3", trace_id="t-3", parent_observation_id="gone", input="Late?"), score("sc-2", trace_id="t-2"),
    ]  # fmt: skip
    shuffled = [*told, *random_.choices(told, k=3)]
    random_.shuffle(shuffled)
    assert made(*shuffled) == made(*told)


def test_a_score_that_one_run_of_an_evaluator_wrote_twice_is_one_outcome() -> None:
    run = {"source": "EVAL", "execution_trace_id": "run-1"}
    told = [score("sc-2", **run), score("sc-1", **run), score("sc-3", **run, observation_id="o-2"), score("sc-4")]
    assert [row["outcome_id"] for row in rows(made(trace(), *told), "outcome_id")] == [
        "langfuse:sc-1", "langfuse:sc-3", "langfuse:sc-4",
    ]  # fmt: skip
    assert left_out(made(trace(), *told))["scores that one run of an evaluator wrote twice"] == 1
