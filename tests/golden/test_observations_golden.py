"""What the released methods observe and decide in a small log written by rule; every digit.

The files in tests/golden are released: neither they nor their digests change (see golden_tables).
"""

from __future__ import annotations

import hashlib
import os
from datetime import timedelta
from typing import Any

import orjson
import polars as pl
import pytest
from golden_tables import GOLDEN, golden_names
from observation_rows import AS_OF, PARAMS, START, change, health_of, states_of
from turned_log import TOLD, TURNED
from worded_log import WORDED
from worked_log import LEFT, TOLD_SINCE, WORKED

from slowwave.flows.publish.word_vectors import word_vectors
from slowwave.transforms.core.methods.golden_digests import GOLDEN_DIGESTS
from slowwave.transforms.observations.curation.curation_decisions import curation_decisions
from slowwave.transforms.observations.observations import observe_memories
from slowwave.transforms.observations.params import ObservationParams

NAMES = golden_names(
    "observe-1", "observe-2", "observe-3", "observe-4", "observe-5", "curate-1", "curate-2", "curate-3"
)
TEXTS = (
    "User prefers dark mode", "The user prefers dark mode.", "The users prefer dark mode in the editor",
    "The API port is 8080", "The API port is 9090", "The API port is now 7070", "Always run the linter before pushing",
    "Run the linter before pushing", "Do not run the linter before pushing", "User lives in Munich",
    "User moved from Munich to Berlin", "User lives in Munich", "Forget that the user likes tea", "The user likes tea",
    "The nightly backup of the billing database runs in Frankfurt", "Alice visited Paris in March",
    "The nightly backup of the billing database is running in Frankfurt", "Forget that the user likes tea",
)  # fmt: skip
NEAR = (
    ("Releases are cut on Thursday", "project"), ("A release is cut every Thursday", "knowledge"),
    ("Releases are cut on Friday", "knowledge"), ("Alice owns the billing service", "knowledge"),
    ("Alice owns the billing service.", "project"), ("Bob owns the billing service", "project"),
    ("The build copies staging data to production", "project"),
    ("The build copies production data to staging", "project"),
    ("Deployment on Fridays is forbidden", "project"), ("Deploying on Friday is forbidden", "preference"),
    ("The worker listens on port 80", "project"), ("The worker listens on port 81", "knowledge"),
)  # fmt: skip
WORK = (*(text for pair in (*WORKED, *LEFT) for text in pair), *(text for text, _, _ in TOLD_SINCE))


def _golden() -> dict[str, pl.DataFrame]:
    rows = [
        change(f"m{n:02}", text, day=n, source_ids=[f"s{n % 5}"] if n % 3 else None) for n, text in enumerate(TEXTS)
    ]
    rows += [change("on", "The response cache is enabled"), change("off", "The response cache is disabled")]
    rows.append(change("m01", day=40, status="archived"))
    health = [
        {"memory_id": f"m{n:02}", "confidence": n / 20, "confirmed_count": n % 4, "contradicted_count": n % 2,
         "reference_count": n % 5, "trend": "stable", "last_referenced_at": START + timedelta(days=50 + n)}
        for n in range(0, len(TEXTS), 2)
    ]  # fmt: skip
    states = states_of(rows)
    first, second = (
        PARAMS.model_copy(update={"method": "observe/1", "curation_method": name}) for name in ("curate/1", "curate/2")
    )
    merged = observe_memories(_with_more(rows), health_of(health), word_vectors, AS_OF, second)
    tables = {
        "curate-1/curation_decisions": curation_decisions(states, word_vectors, first),
        "curate-2/merge_proposals": merged.merge_proposals,
        "curate-2/curation_decisions": curation_decisions(states, word_vectors, second),
    }
    for method in ("observe/1", "observe/2"):
        params = ObservationParams(method=method, curation_method="curate/1")
        told = observe_memories(states, health_of(health), word_vectors, AS_OF, params)
        tables |= {f"{method.replace('/', '-')}/{name}": table for name, table in told._asdict().items()}
    params = ObservationParams(method="observe/3", curation_method="curate/1")
    turned = observe_memories(_with_turns(rows), health_of(health), word_vectors, AS_OF, params)
    tables |= {f"observe-3/{name}": table for name, table in turned._asdict().items()}
    params = ObservationParams(method="observe/4", curation_method="curate/1")
    worked = observe_memories(_with_turns(rows, WORK), health_of(health), word_vectors, AS_OF, params)
    tables |= {f"observe-4/{name}": table for name, table in worked._asdict().items()}
    worded = _with_turns(rows, (*WORK, *(text for pair in WORDED for text in pair)))
    plain = observe_memories(worded, health_of(health), word_vectors, AS_OF, ObservationParams(method="observe/5"))
    tables["curate-3/curation_decisions"] = curation_decisions(worded, word_vectors, ObservationParams())
    tables["curate-3/merge_proposals"] = plain.merge_proposals
    return tables | {f"observe-5/{name}": table for name, table in plain._asdict().items()}


def _with_turns(rows: list[dict[str, Any]], more: tuple[str, ...] = ()) -> pl.DataFrame:
    """The same memories, and what has come further since, or tells by itself what changed."""
    stages = [*(text for pair in TURNED for text in pair), *(text for text, _, _ in TOLD), *more]
    return states_of([*rows, *(change(f"t{n:02}", text, day=n) for n, text in enumerate(stages))])


def _with_more(rows: list[dict[str, Any]]) -> pl.DataFrame:
    """The same memories and some that are nearly one, of one type and of two."""
    return states_of(
        [*rows, *(change(f"n{n:02}", text, day=n, memory_type=kind) for n, (text, kind) in enumerate(NEAR))]
    )


@pytest.fixture(scope="module")
def golden() -> dict[str, bytes]:
    return {
        name: b"".join(orjson.dumps(row, option=orjson.OPT_UTC_Z) + b"\n" for row in table.iter_rows(named=True))
        for name, table in _golden().items()
    }


@pytest.mark.parametrize("name", NAMES)
def test_released(golden: dict[str, bytes], name: str) -> None:
    path = GOLDEN / f"{name}.ndjson"
    if os.environ.get("SLOWWAVE_REGENERATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(golden[name])
    assert golden[name].decode().splitlines() == path.read_text().splitlines()
    assert hashlib.sha256(path.read_bytes()).hexdigest() == GOLDEN_DIGESTS[name]
