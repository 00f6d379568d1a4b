"""Whatever stands in a field of a trace or an export: it is a row or a reason, never the end of the import."""

from __future__ import annotations

import random
from typing import Any

import langfuse_rows
import otlp_documents
import pytest
from hypothesis import given
from hypothesis import settings as given_settings
from hypothesis import strategies as st
from langfuse_rows import observation, root_of_v2, score, trace
from odd_values import spoiled
from otlp_documents import TRACE, agent, chat, log, logs, search, span, span_id, traces
from thorough import examples

from slowwave.transforms.imports.delivery_lines import Tally, delivery_lines
from slowwave.transforms.imports.langfuse import Langfuse
from slowwave.transforms.imports.otlp.adapter import Otlp

JUDGED = {"evaluations.0.evaluation.name": "n", "evaluations.0.evaluation.label": "pass", "gen_ai.response.id": "r"}
DOCUMENTS = [
    traces(
        span(1, agent("Which port?", "5432.")),
        span(2, search(("m-1", "The port is 5432.", 0.9)), parent=1),
        span(3, chat("Which port?", "5432.", JUDGED), parent=1, links=[{"traceId": TRACE, "spanId": span_id(1)}]),
        span(4, {"gen_ai.operation.name": "upsert_memory", "gen_ai.memory.record.id": "m-2"}, parent=1),
    ),
    logs(
        log("gen_ai.user.message", {}, of=3, body={"content": "Which port?"}),
        log("gen_ai.evaluation.result", {"gen_ai.evaluation.name": "n", "gen_ai.evaluation.score.label": "pass"}, of=3),
    ),
]
ROWS = [trace(), observation(output=[{"id": "m-1", "content": "x"}]), root_of_v2(), score()]


@given(st.randoms(use_true_random=False))
@given_settings(max_examples=examples(40, 400))
def test_odd_values_of_spans_and_logs(random_: random.Random) -> None:
    told = [one for one in (spoiled(document, random_, 0.03) for document in DOCUMENTS) if isinstance(one, dict)]
    assert len([*delivery_lines(otlp_documents.made(*told), Otlp(), Tally())]) < 20


@given(st.randoms(use_true_random=False))
@given_settings(max_examples=examples(40, 400))
def test_odd_values_of_exported_rows(random_: random.Random) -> None:
    told = [{name: spoiled(value, random_, 0.08) for name, value in row.items()} for row in ROWS]
    assert len([*delivery_lines(langfuse_rows.made(*told, memory_searches=["answer"]), Langfuse(), Tally())]) < 20


def nested(depth: int, *, is_object: bool) -> Any:
    value: Any = "end"
    for _ in range(depth):
        value = {"messages": value} if is_object else [value]
    return value


@pytest.mark.parametrize("depth", [50, 300, 900])
@pytest.mark.parametrize("is_object", [True, False])
def test_what_is_nested_deep_does_not_end_the_import(depth: int, is_object: bool) -> None:
    deep = nested(depth, is_object=is_object)
    told = [
        trace(input=deep, metadata=deep, tags=deep),
        observation(output=deep, usage_details=deep),
        score(value=deep),
    ]
    lines = [*delivery_lines(langfuse_rows.made(*told, memory_searches=["answer"]), Langfuse(), Tally())]
    assert len(lines) == (2 if depth < 254 else 1)  # as deep as JSON is written


def test_the_last_moment_that_there_is_ends_no_import() -> None:
    last = "9999-12-31T23:59:59.999999Z"
    told = [
        {name: last if "time" in name or name.endswith("_at") else held for name, held in row.items()} for row in ROWS
    ]
    assert [*delivery_lines(langfuse_rows.made(*told), Langfuse(), Tally())]
