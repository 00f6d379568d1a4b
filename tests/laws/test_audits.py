"""Law 5: audits find what they are for, a failed one publishes nothing, and readers are never disturbed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from unittest.mock import patch

import duckdb
import polars as pl
import pytest

from slowwave.data.sample import sample_files
from slowwave.flows import publish as publish_module
from slowwave.flows.errors import AuditFailedError
from slowwave.flows.serving import audit_findings, audits
from tests.laws.deliveries import START, jsonl
from tests.laws.home import Home

AS_OF = START + timedelta(days=3)
ROWS = [
    {"memory_id": "rule", "changed_at": START, "content": "Read the log first", "status": "active", "confidence": 0.5},
    *[
        {"interaction_id": f"i{n}", "created_at": START + timedelta(hours=n), "prompt": "?", "memories_used": ["rule"],
         "response": "I read the log first" if n % 2 else "I did not"}
        for n in range(1, 40)
    ],
]  # fmt: skip

# audit: the fault it is there to find
FAULTS = {
    "counts_are_explained": (
        "UPDATE memory_health SET injected_count = injected_count + 1",
        "DELETE FROM memory_references WHERE interaction_id = 'i1'",
        "UPDATE memory_references SET memory_id = 'other' WHERE interaction_id = 'i1'",
    ),
    "counts_are_possible": (
        "UPDATE memory_health SET eligible_count = -1",
        "UPDATE memory_health SET eligible_count = echoed_count - 1",
        "UPDATE memory_health SET reference_count = echoed_count - 1",
    ),
    "history_ends_in_health": (
        "UPDATE memory_health SET eligible_count = eligible_count + 1",
        "UPDATE memory_health SET status = 'invalid'",
        "UPDATE memory_health SET reinforced_confidence = 0.25",
        "DELETE FROM memory_health_history",
        "INSERT INTO memory_health_history BY NAME SELECT * REPLACE ('other' AS memory_id) FROM memory_health_history",
    ),
    "memory_health_history_key": ("INSERT INTO memory_health_history FROM memory_health_history LIMIT 1",),
    "memory_health_key": ("INSERT INTO memory_health FROM memory_health LIMIT 1",),
    "memory_references_key": ("INSERT INTO memory_references FROM memory_references LIMIT 1",),
    "never_landed_memories": ("UPDATE memory_health SET status = NULL",),
    "nothing_is_lost": (
        "UPDATE run_files SET delivered = delivered + 1",
        "UPDATE run_files SET quarantined = quarantined + 1",
    ),
    "one_run": (
        "INSERT INTO memory_references BY NAME SELECT * REPLACE ('another' AS run_id) FROM memory_references LIMIT 1",
        "UPDATE memory_health SET as_of = as_of - INTERVAL 1 DAY",
    ),
    "references_are_dated": (
        "UPDATE memory_health SET first_referenced_at = NULL",
        "UPDATE memory_health SET last_referenced_at = as_of",
        "UPDATE memory_health SET last_referenced_at = first_referenced_at - INTERVAL 1 SECOND",
        "UPDATE memory_health SET reference_count = 0",
    ),
    "refused_rows": ("UPDATE run_files SET quarantined = 5, accepted = accepted - 5",),
    "reinforced_confidence_range": (
        "UPDATE memory_health SET reinforced_confidence = 1.01",
        "UPDATE memory_health SET reinforced_confidence = -0.01",
        "UPDATE memory_health SET reinforced_confidence = 'nan'",
    ),
}


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Home:
    home = Home(tmp_path_factory.mktemp("audits") / "home")
    home.drop("log.jsonl", jsonl(ROWS))
    assert home.nightly(AS_OF).findings == []
    return home


def test_every_audit_has_faults_to_find():
    assert {audit.name for audit in audits()} == FAULTS.keys()
    assert all(audit.description.endswith((".", ")")) for audit in audits())


@pytest.mark.parametrize(("name", "fault"), [(name, fault) for name, faults in FAULTS.items() for fault in faults])
def test_an_audit_finds_its_fault(published, tmp_path, name, fault):
    path = tmp_path / "serving.duckdb"
    shutil.copy(published.current, path)
    with duckdb.connect(path) as connection:
        assert audit_findings(connection) == []
        connection.execute(fault)
        found = {finding.audit.name: finding for finding in audit_findings(connection)}
    assert found[name].rows >= 1
    assert f"{name}: {found[name].rows} bad rows" in str(found[name])


def test_a_failed_audit_leaves_yesterday_live_and_the_run_red(published, copy_of):
    home = copy_of(published)
    before, hashes = home.current, home.hashes()
    right = publish_module.memory_health

    def wrong(*arguments) -> pl.LazyFrame:
        return right(*arguments).with_columns(pl.col("echoed_count") + 1)

    home.drop("late.jsonl", jsonl([{"interaction_id": "late", "created_at": START, "prompt": "?"}]))
    with (
        patch.object(publish_module, "memory_health", wrong),
        pytest.raises(AuditFailedError, match="counts_are_explained: 1 bad rows"),
    ):
        home.nightly(AS_OF)
    assert home.current == before
    assert home.hashes() == hashes
    assert list(before.parent.iterdir()) == [before]
    last = home.ledger()[-1]
    assert (last["status"], last["delivered"], last["accepted"]) == ("failed", 1, 1)
    assert "counts_are_explained" in last["message"]
    assert home.nightly(AS_OF).status == "published"
    statuses = [row["status"] for row in home.rows("SELECT status FROM runs ORDER BY started_at")]
    assert statuses == ["published", "failed", "published"]


def test_a_warning_is_published_with_the_run(published, copy_of):
    home = copy_of(published)
    unknown = {"interaction_id": "x", "created_at": START, "prompt": "?", "memories_used": ["=cmd()"]}
    home.drop("unknown.jsonl", jsonl([unknown]))
    result = home.nightly(AS_OF)
    assert [finding.audit.name for finding in result.findings] == ["never_landed_memories"]
    messages = {row["run_id"]: row["message"] for row in home.rows("FROM runs")}
    assert "never_landed_memories: 1 bad rows" in messages[result.run_id]


def test_who_reads_goes_on_reading(published, copy_of):
    home = copy_of(published)
    stamp = "SELECT run_id, sum(echoed_count) AS echoes FROM memory_health GROUP BY run_id"
    with duckdb.connect(home.settings.current, read_only=True) as reader:
        before = reader.sql(stamp).fetchall()
        home.drop("late.jsonl", jsonl([ROWS[1] | {"interaction_id": "late"}]))
        result = home.nightly(AS_OF)
        assert reader.sql(stamp).fetchall() == before
        with duckdb.connect(home.settings.current, read_only=True) as another:
            ((run_id, echoes),) = another.sql(stamp).fetchall()
        assert (run_id, echoes) == (result.run_id, before[0][1] + 1)
        assert reader.sql(stamp).fetchall() == before


READER = """
import sys, duckdb
from pathlib import Path
tables = ("memory_health", "memory_health_history", "memory_references")
query = " UNION ".join(f"SELECT run_id, as_of FROM {table}" for table in tables)
print("ready", flush=True)
stopping = False
while not stopping:
    stopping = Path(sys.argv[2]).exists()
    with duckdb.connect(sys.argv[1], read_only=True) as connection:
        stamps = connection.sql(query).fetchall()
    assert len(stamps) == 1, stamps
print("whole", flush=True)
"""


def test_another_process_sees_only_whole_publishes(published, copy_of: Callable[[Home], Home]):
    home = copy_of(published)
    command = [sys.executable, "-c", READER, str(home.settings.current), str(home.folder / "stop")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as reader:
        assert reader.stdout is not None
        assert reader.stderr is not None
        assert reader.stdout.readline() == "ready\n"
        for hour in range(5):
            home.nightly(AS_OF + timedelta(hours=hour + 1))
        (home.folder / "stop").touch()
        assert reader.stderr.read() == ""
        assert reader.stdout.read() == "whole\n"


def test_a_publish_of_the_sample_has_no_failing_finding(home):
    for file in sample_files(days=2, interactions_per_day=12):
        home.drop(file.name, file.content)
    assert {finding.audit.severity for finding in home.nightly().findings} <= {"warn"}
