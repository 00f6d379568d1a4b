"""What the released methods observe and decide in a small log written by rule; every digit.

The files in tests/golden are released: neither they nor their digests change (see golden_tables).
"""

from __future__ import annotations

import hashlib
import os
from datetime import timedelta

import orjson
import polars as pl
import pytest
from golden_tables import GOLDEN, golden_names
from observation_rows import AS_OF, PARAMS, START, change, health_of, states_of
from state_change_log import ALIKE, CHANGES, DECLARED, IN_PROSE, TICKED
from worded_log import WORDED

from slowwave.flows.publish.word_vectors import word_vectors
from slowwave.transforms.core.methods.golden_digests import GOLDEN_DIGESTS
from slowwave.transforms.observations.curation_decisions import curation_decisions
from slowwave.transforms.observations.observations import observe_memories

NAMES = golden_names("observe-6", "curate-4")
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
STATES = (
    *(text for pair in (*CHANGES, *TICKED, *ALIKE, *IN_PROSE, *WORDED) for text in pair),
    *(text for text, _, _ in DECLARED),
)


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
    rows += [change(f"n{n:02}", text, day=n, memory_type=kind) for n, (text, kind) in enumerate(NEAR)]
    rows += [change(f"t{n:03}", text, day=n) for n, text in enumerate(STATES)]
    states = states_of(rows)
    found = observe_memories(states, health_of(health), word_vectors, AS_OF, PARAMS)
    return {
        "curate-4/curation_decisions": curation_decisions(states, word_vectors, PARAMS),
        "curate-4/merge_proposals": found.merge_proposals,
        **{f"observe-6/{name}": table for name, table in found._asdict().items()},
    }


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
