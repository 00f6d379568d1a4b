"""Outcomes from evaluations: by event, by attribute, of a span, a trace or a session; and what no rule can judge."""

from __future__ import annotations

from typing import Any

import pytest
from otlp_documents import OTHER_TRACE, TRACE, agent, chat, left_out, log, logs, made, rows, span, span_id, traces

ANSWER = f"otlp:{TRACE}:{span_id(1)}"
ASKED = traces(
    span(1, agent("Go", "Gone")), span(2, chat("Go", "Gone", further={"gen_ai.response.id": "r-1"}), parent=1)
)


def result(label: str = "pass", **further: Any) -> dict[str, Any]:
    held = {"gen_ai.evaluation.name": "correctness", "gen_ai.evaluation.score.label": label}
    return {key: value for key, value in held.items() if value} | further


def outcome(*documents: dict[str, Any], options: dict[str, Any] | None = None) -> dict[str, Any]:
    (one,) = rows(made(*documents, options=options), "outcome_id")
    return one


def test_an_evaluation_in_the_context_of_a_call_is_of_its_interaction() -> None:
    held = result("Passed", **{"gen_ai.evaluation.explanation": "It went.", "gen_ai.evaluation.score.value": 0.9})
    assert outcome(ASKED, logs(log("gen_ai.evaluation.result", held, of=2, at=5))) == {
        "outcome_id": f"otlp:{TRACE}:{span_id(2)}:correctness:",
        "interaction_id": ANSWER,
        "created_at": "2026-02-02T02:40:05Z",
        "recorded_at": "2026-02-02T02:40:05.000002Z",
        "success": True,
        "feedback": "It went.",
        "basis": "evaluated",
        "basis_method": "gen_ai.evaluation.result:correctness",
        "evaluation": {"name": "correctness", "label": "Passed", "score": 0.9},
    }


def test_an_evaluation_without_a_context_is_joined_by_the_id_of_the_answer() -> None:
    alone = logs(log("gen_ai.evaluation.result", result("fail", **{"gen_ai.response.id": "r-1"}), at=5))
    found = outcome(ASKED, alone)
    assert (found["interaction_id"], found["success"]) == (ANSWER, False)
    assert "interaction_id" not in outcome(alone)


def test_an_evaluation_by_another_program_is_of_the_answer_that_it_names() -> None:
    judge = span(9, {"openinference.span.kind": "EVALUATOR"}, trace=OTHER_TRACE, start=50)
    held = [result(label, **{"gen_ai.response.id": id_}) for label, id_ in (("pass", "r-1"), ("fail", "r-2"))]
    told = logs(*(log("gen_ai.evaluation.result", one, of=9, at=51, trace=OTHER_TRACE) for one in held))
    other = span(5, chat("Stop", "No.", {"gen_ai.response.id": "r-2"}), start=20)
    found = rows(made(ASKED, traces(judge, other), told), "outcome_id")
    assert {one["interaction_id"]: one["success"] for one in found} == {
        ANSWER: True,
        f"otlp:{TRACE}:{span_id(5)}": False,
    }


def test_an_event_of_the_span_itself_counts_too() -> None:
    event = {"name": "gen_ai.evaluation.result", "timeUnixNano": "1770000000900000000"}
    event["attributes"] = logs(log("x", result()))["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0]["attributes"]
    assert outcome(traces(span(1, chat("Go", "Gone"), events=[event])))["interaction_id"] == ANSWER


@pytest.mark.parametrize("form", ["evaluation", "annotation"])
@pytest.mark.parametrize(("kind", "basis"), [("HUMAN", "reported"), ("LLM", "evaluated"), ("CODE", "evaluated")])
def test_feedback_of_openinference_is_read_under_either_name(form: str, kind: str, basis: str) -> None:
    held = {
        f"{form}s.0.{form}.name": "correctness",
        f"{form}s.0.{form}.label": "incorrect",
        f"{form}s.0.{form}.annotator_kind": kind,
        f"{form}s.0.{form}.identifier": "judge-2",
        f"{form}s.0.{form}.explanation": "No.",
    }
    found = outcome(traces(span(1, chat("Go", "Gone") | held)))
    assert found["outcome_id"] == f"{ANSWER}:correctness:judge-2"
    assert (found["success"], found["basis"], found["feedback"]) == (False, basis, "No.")
    assert found["evaluator"] == "judge-2"


def test_feedback_given_later_is_of_the_span_that_it_links_to() -> None:
    held = {"openinference.span.kind": "EVALUATOR", "evaluations.0.evaluation.name": "c",
            "evaluations.0.evaluation.label": "pass"}  # fmt: skip
    later = span(9, held, trace=OTHER_TRACE, start=50, links=[{"traceId": TRACE, "spanId": span_id(2)}])
    judging = span(10, chat("Was it right?", "Yes"), parent=9, trace=OTHER_TRACE, start=50)
    found = made(ASKED, traces(later, judging))
    (one,) = rows(found, "outcome_id")
    assert one["interaction_id"] == ANSWER
    assert one["created_at"] == "2026-02-02T02:40:51Z"
    assert [each["interaction_id"] for each in rows(found, "interaction_id")] == [ANSWER]


def test_an_event_of_a_span_that_links_to_another_is_of_that_one() -> None:
    event = {"name": "gen_ai.evaluation.result", "timeUnixNano": "1770000050000000000"}
    event["attributes"] = logs(log("x", result()))["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0]["attributes"]
    links = [{"traceId": TRACE, "spanId": span_id(1)}]
    later = span(9, {"openinference.span.kind": "EVALUATOR"}, trace=OTHER_TRACE, start=50, events=[event], links=links)
    assert outcome(ASKED, traces(later))["interaction_id"] == ANSWER


def test_feedback_of_a_trace_is_of_its_interaction_and_of_a_session_of_none() -> None:
    held = {"trace.annotations.0.annotation.name": "t", "trace.annotations.0.annotation.label": "pass",
            "session.annotations.0.annotation.name": "s", "session.annotations.0.annotation.label": "fail",
            "session.id": "s-1", "openinference.span.kind": "LLM"}  # fmt: skip
    found = rows(made(ASKED, traces(span(3, held, parent=1))), "outcome_id")
    of_trace, of_session = sorted(found, key=lambda one: one["basis_method"], reverse=True)
    assert of_trace["interaction_id"] == ANSWER
    assert "interaction_id" not in of_session
    assert of_session["session_id"] == "s-1"


def test_a_number_without_a_rule_makes_no_outcome_and_is_named() -> None:
    bare = logs(log("gen_ai.evaluation.result", result("", **{"gen_ai.evaluation.score.value": 0.8}), of=2))
    found = made(ASKED, bare)
    assert rows(found, "outcome_id") == []
    ((sort, count),) = left_out(found).items()
    assert count == 1
    assert "'correctness'" in sort
    assert "[imports.otlp.evaluations]" in sort
    ruled = outcome(ASKED, bare, options={"evaluations": {"Correctness": {"at_least": 0.7}}})
    assert ruled["success"] is True


def test_an_evaluation_that_failed_itself_says_nothing_of_the_answer() -> None:
    failed = logs(log("gen_ai.evaluation.result", result(**{"error.type": "timeout"}), of=2))
    assert rows(made(ASKED, failed), "outcome_id") == []
