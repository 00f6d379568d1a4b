"""Spans in the JSON of SDKs and tools: Phoenix, MLflow, OpenTelemetry's SDKs of Python and JavaScript."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from each import each
from hypothesis import given
from hypothesis import strategies as st
from otlp_documents import made, refused, rows

from slowwave.transforms.imports.adapter import Located
from slowwave.transforms.imports.otlp.adapter import Otlp
from slowwave.transforms.imports.otlp.sdk_json import form_of

TRACE, SPAN, PARENT = "ab" * 16, "cd" * 8, "ef" * 8
TEXTS = {"input.value": "Which port?", "output.value": "It is 5432.", "llm.token_count.total": 9}
START, END = "2026-09-01T10:00:00+00:00", "2026-09-01T10:00:01.500000+00:00"
NANO = 1_788_256_800 * 10**9


def b64(digits: str) -> str:
    return base64.b64encode(bytes.fromhex(digits)).decode()


PHOENIX: dict[str, Any] = {
    "id": "U3BhbjoxMQ==",
    "name": "llm",
    "context": {"trace_id": TRACE, "span_id": SPAN},
    "span_kind": "LLM",
    "parent_id": None,
    "start_time": START,
    "end_time": END,
    "status_code": "OK",
    "status_message": "",
    "attributes": TEXTS,
    "events": [],
}
NESTED = PHOENIX | {
    "attributes": {
        "llm": {
            "input_messages": [{"message": {"role": "user", "content": "Which port?"}}],
            "output_messages": [{"message": {"role": "assistant", "content": "It is 5432."}}],
            "token_count": {"total": 9},
        }
    }
}
FRAME = {
    "name": "llm",
    "span_kind": "LLM",
    "parent_id": None,
    "start_time": 1_788_256_800_000,
    "end_time": 1_788_256_801_500,
    "status_code": "UNSET",
    "context.trace_id": TRACE,
    "context.span_id": SPAN,
    **{f"attributes.{name}": value for name, value in TEXTS.items()},
}
MLFLOW_SPAN = {
    "trace_id": b64(TRACE),
    "span_id": b64(SPAN),
    "parent_span_id": None,
    "name": "predict",
    "start_time_unix_nano": NANO,
    "end_time_unix_nano": NANO + 1_500_000_000,
    "status": {"code": "STATUS_CODE_OK", "message": ""},
    "events": [],
    "attributes": {
        "mlflow.spanType": '"LLM"',
        "mlflow.spanInputs": '{"prompt": "Which port?"}',
        "mlflow.spanOutputs": '"It is 5432."',
        "mlflow.chat.tokenUsage": '{"input_tokens": 5, "output_tokens": 4}',
    },
}
PYTHON = {
    "name": "llm",
    "context": {"trace_id": f"0x{TRACE}", "span_id": f"0x{SPAN}", "trace_state": "[]"},
    "kind": "SpanKind.INTERNAL",
    "parent_id": None,
    "start_time": "2026-09-01T10:00:00Z",
    "end_time": "2026-09-01T10:00:01.500000Z",
    "status": {"status_code": "OK"},
    "attributes": {"openinference.span.kind": "LLM", **TEXTS},
    "events": [],
    "links": [],
    "resource": {"attributes": {}, "schema_url": ""},
}
JAVASCRIPT = {
    "name": "chat",
    "_spanContext": {"traceId": TRACE, "spanId": SPAN, "traceFlags": 1},
    "startTime": [1_788_256_800, 0],
    "endTime": [1_788_256_801, 500_000_000],
    "attributes": {"openinference.span.kind": "LLM", **TEXTS},
    "events": [],
    "links": [],
    "status": {"code": 0},
    "resource": {"_rawAttributes": [], "_asyncAttributesPending": False},
    "instrumentationScope": {"name": "", "version": ""},
}
FORMS: dict[str, dict[str, Any]] = {
    "Phoenix": PHOENIX,
    "Phoenix, nested": NESTED,
    "Phoenix, a page of its REST interface": {"data": [PHOENIX], "next_cursor": None},
    "Phoenix, a trace of its command line": {"traceId": TRACE, "spans": [PHOENIX]},
    "Phoenix, a frame": FRAME,
    "MLflow": {"info": {"trace_id": f"tr-{TRACE}"}, "data": {"spans": [MLFLOW_SPAN]}},
    "MLflow, a list": {"traces": [{"info": {}, "data": {"spans": [MLFLOW_SPAN]}}]},
    "Python": PYTHON,
    "JavaScript": JAVASCRIPT,
}


@each("record", FORMS.values())
def test_each_form_gives_the_same_interaction(record: dict[str, Any]) -> None:
    assert Otlp().detect_producer([record]) is not None
    (one,) = rows(made(record), "interaction_id")
    assert one["interaction_id"] == f"otlp:{TRACE}:{SPAN}"
    assert (one["prompt"], one["response"], one["tokens"]) == ("Which port?", "It is 5432.", 9)
    assert (one["created_at"], one["recorded_at"][:23]) == ("2026-09-01T10:00:00Z", "2026-09-01T10:00:01.500")


@pytest.mark.parametrize(
    "record",
    [
        PHOENIX | {"status_code": "ERROR", "status_message": "timeout"},
        PYTHON | {"status": {"status_code": "ERROR", "description": "timeout"}},
        JAVASCRIPT | {"status": {"code": 2, "message": "timeout"}},
        MLFLOW_SPAN | {"status": {"code": "STATUS_CODE_ERROR", "message": "timeout"}},
    ],
)
def test_each_form_tells_that_it_failed(record: dict[str, Any]) -> None:
    (one,) = rows(made(record), "outcome_id")
    assert (one["success"], one["error_message"]) == (False, "timeout")


def test_annotations_beside_a_span_are_outcomes() -> None:
    judged = {"name": "correctness", "annotator_kind": "HUMAN", "result": {"label": "correct", "score": 1}}
    (one,) = rows(made(PHOENIX | {"annotations": [judged, {"name": "note"}, 3]}), "outcome_id")
    assert (one["success"], one["basis"], one["interaction_id"]) == (True, "reported", f"otlp:{TRACE}:{SPAN}")


def test_ids_that_are_none_of_opentelemetry_become_the_same_ones_each_time() -> None:
    turn = PHOENIX | {"context": {"trace_id": "trace-1", "span_id": "s01"}, "span_kind": "AGENT"}
    call = PHOENIX | {"context": {"trace_id": "trace-1", "span_id": "s02"}, "parent_id": "s01"}
    first, second = (rows(made(*records), "interaction_id") for records in ((turn, call), (call, turn)))
    assert first == second
    assert len(first) == 1


@pytest.mark.parametrize("record", [{}, {"data": []}, {"spans": "x"}, {"context": {"trace_id": TRACE}}, {"hrTime": 3}])
def test_other_records_are_of_no_form(record: dict[str, Any]) -> None:
    assert form_of(record) is None


anything = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.sampled_from([PHOENIX, FRAME, MLFLOW_SPAN, PYTHON, JAVASCRIPT]), st.data())
def test_whatever_stands_in_a_field_nothing_breaks(record: dict[str, Any], data: st.DataObject) -> None:
    odd = record | {data.draw(st.sampled_from(sorted(record))): data.draw(anything)}
    found = made(odd)
    assert all(isinstance(why, str) for why in refused(found))
    Otlp().kind_of_record(Located(1, odd).record)


@each("time", [float("inf"), float("nan"), -1, 2**80, "yesterday", None, [1], ["a", "b"]])
def test_a_time_that_is_none_is_refused(time: object) -> None:
    assert rows(made(PHOENIX | {"start_time": time}), "interaction_id") == []
