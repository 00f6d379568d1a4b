"""Rows as an export of Langfuse has them, invented after its server's source, and what the adapter makes of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slowwave.transforms.imports.adapter import Context, Located, Made
from slowwave.transforms.imports.langfuse import Langfuse

PROJECT = "cmproject0001"


def trace(id_: str = "t-1", **further: Any) -> dict[str, Any]:
    """A row of the table traces."""
    row = {
        "id": id_,
        "timestamp": "2026-08-01 10:00:00.000",
        "name": "support",
        "environment": "default",
        "project_id": PROJECT,
        "metadata": {},
        "user_id": "ann",
        "session_id": "s-1",
        "release": "",
        "version": "",
        "public": False,
        "bookmarked": False,
        "tags": [],
        "input": "Which port?",
        "output": "5432.",
        "created_at": "2026-08-01 10:00:05.000",
        "updated_at": "2026-08-01 10:00:06.000",
    }
    return row | further


def observation(id_: str = "o-1", **further: Any) -> dict[str, Any]:
    """A row of the table observations."""
    row = {
        "id": id_,
        "trace_id": "t-1",
        "project_id": PROJECT,
        "environment": "default",
        "type": "GENERATION",
        "parent_observation_id": "",
        "start_time": "2026-08-01 10:00:01.000",
        "end_time": "2026-08-01 10:00:03.500",
        "name": "answer",
        "level": "DEFAULT",
        "status_message": "",
        "metadata": {},
        "input": "",
        "output": "",
        "provided_model_name": "model-x",
        "usage_details": {"input": 10, "output": 5, "total": 15},
        "cost_details": {"total": 0.002},
        "total_cost": 0.002,
        "latency": 2500,
        "created_at": "2026-08-01 10:00:05.000",
        "updated_at": "2026-08-01 10:00:06.000",
    }
    return row | further


def root_of_v2(**further: Any) -> dict[str, Any]:
    """The topmost row of a trace in the table observations_v2."""
    row = observation(
        "o-0", type="SPAN", input='{"question": "Which port?"}', output='{"answer": "5432."}', usage_details={},
        cost_details={}, total_cost=None, start_time="2026-08-01 10:00:00.000",
    )  # fmt: skip
    return row | {"user_id": "ann", "session_id": "s-1", "trace_name": "support", "is_root_observation": True} | further


def score(id_: str = "sc-1", **further: Any) -> dict[str, Any]:
    """A row of the table scores."""
    row = {
        "id": id_,
        "timestamp": "2026-08-01 11:00:00.000",
        "project_id": PROJECT,
        "environment": "default",
        "trace_id": "t-1",
        "observation_id": "",
        "session_id": "",
        "dataset_run_id": "",
        "name": "helpful",
        "value": 1,
        "source": "ANNOTATION",
        "comment": "",
        "data_type": "BOOLEAN",
        "string_value": "True",
        "created_at": "2026-08-01 11:00:00.000",
        "updated_at": "2026-08-01 11:00:01.000",
    }
    return row | further


def made(*rows: Mapping[str, Any], **options: Any) -> list[Made]:
    """What the adapter makes of these rows."""
    located = [Located(number, row) for number, row in enumerate(rows, 1)]
    return [*Langfuse().make_rows(located, Context(options=options))]
