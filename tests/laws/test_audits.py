"""Law 5: audits find what they are for, a failed one publishes nothing, and readers are never disturbed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import wraps
from unittest.mock import patch

import duckdb
import polars as pl
import pytest
from each import each

from slowwave.data.sample import sample_files
from slowwave.flows.kernel.errors import AuditFailedError
from slowwave.flows.publish import serving as serving_module
from slowwave.flows.publish.serving import audit_findings, audits
from slowwave.transforms import graph
from slowwave.transforms.core.schema import Table, columns
from slowwave.transforms.decisions.effects import APPLY, decision_rows, values_json
from slowwave.transforms.decisions.review.changes import PROMOTE
from slowwave.transforms.health import judged_health as health_module
from slowwave.transforms.landing.decisions_table import Decisions
from slowwave.transforms.landing.set_aside import LEAVE_OUT
from tests.laws.deliveries import START, jsonl
from tests.laws.home import PUBLISHED, Home

AS_OF = START + timedelta(days=24)  # three Mondays have had a week after them
ROWS = [
    {"memory_id": "rule", "changed_at": START, "content": "Read the log first", "status": "active", "confidence": 0.5},
    *[
        {"interaction_id": f"i{n}", "created_at": START + timedelta(hours=n), "prompt": "?", "memories_used": ["rule"],
         "response": "I read the log first" if n % 2 else "I did not", "success": n % 8 != 3,
         "chunks_used": ["guide#1"] if n % 2 else ["guide#1", "guide#2", "alone"]}
        for n in range(1, 40)
    ],
    # an instruction that an answer does not follow
    {"memory_id": "calm", "changed_at": START, "content": "Avoid exclamation marks.", "status": "active"},
    {"interaction_id": "loud", "created_at": START, "prompt": "?", "response": "Done!", "memories_used": ["calm"]},
    # two wordings of a strategy that mostly fails with one error, and one that mostly succeeds
    *[
        {"outcome_id": f"{strategy}-{n}", "created_at": START + timedelta(hours=12 * n, minutes=len(strategy)),
         "agent": "coder", "task_type": "deploy", "strategy": strategy, "success": succeeds,
         "error_message": None if succeeds else f"port {n} is in use"}
        for n in range(40)
        for strategy, succeeds in (
            ("restart the server", n % 8 == 0), ("Restart the servers", n % 8 == 4), ("free the port", n % 8 != 0)
        )
    ],
    # tried for another kind of task only
    *[
        {"outcome_id": f"ask first-{n}", "created_at": START + timedelta(days=n), "agent": "coder",
         "task_type": "release", "strategy": "ask first", "success": n > 0}
        for n in range(3)
    ],
    # states what nobody has decided on yet, and a landed candidate
    {"interaction_id": "decides", "created_at": START, "prompt": "?", "response": "Decision: keep the log on disk."},
    {"memory_id": "waits", "changed_at": START, "content": "The log is long", "status": "candidate"},
    # a state and the next one
    {"memory_id": "port", "changed_at": START, "content": "The API port is 8080", "status": "active"},
    {"memory_id": "new port", "changed_at": START + timedelta(days=1), "content": "The API port is 9090",
     "status": "active"},
    # found wrong after a while, so that it may be forgotten
    {"memory_id": "wrong", "changed_at": START, "content": "Delete the log first", "status": "active",
     "user_id": "ada"},
    {"memory_id": "wrong", "changed_at": START + timedelta(days=2), "status": "invalid"},
    {"interaction_id": "not told", "created_at": START + timedelta(days=3), "prompt": "?", "memories_used": ["wrong"],
     "user_id": "bob"},
    {"outcome_id": "cascade", "created_at": START, "strategy": "free the port", "success": False,
     "error_message": "Skipped: depends on the step before"},
]  # fmt: skip

PARAMS = """
[forgetting]
grace_days = 1
recent_days = 1
replaced_after_days = 5
regret_days = 5
project_quotas = { "" = 100 }
"""
# a decision to archive a memory in shadow, long enough ago to be judged
ARCHIVED = {
    "decision_id": "d1", "command": APPLY, "target_kind": "memory", "target": "rule", "reason": "faded",
    "values": values_json({"is_shadow": True, "rule": "faded", "need_30d": 0.1, "status_before": "active"}),
    "changed_by": "forget/1", "decided_at": START + timedelta(days=3), "on_run_id": None,
}  # fmt: skip
# and one to keep something as it is
KEPT = {
    "decision_id": "d2", "command": PROMOTE, "target_kind": "item", "target": "an item", "reason": "it is right",
    "values": values_json({"kind": "fading", "project": "", "memory_type": "knowledge", "text": "Read the log first",
                           "memory_ids": ["rule"], "basis": "b", "changes": []}),
    "changed_by": "person", "decided_at": START + timedelta(days=3), "on_run_id": None,
}  # fmt: skip

# and one to count a row no more
LEFT = {
    "decision_id": "d3", "command": LEAVE_OUT, "target_kind": "row", "target": "memories:odd", "reason": None,
    "values": values_json({"rows": [
        {"row_hash": "0" * 32, "happened_at": START.isoformat(), "recorded_at": START.isoformat()}
    ]}),
    "changed_by": "person", "decided_at": START + timedelta(days=3), "on_run_id": None,
}  # fmt: skip

# audit: the fault it is there to find
FAULTS = {
    "alternatives_are_better": (
        "UPDATE anti_patterns SET better_alternative_strategy_id = strategy_id",
        "UPDATE anti_patterns SET better_alternative_strategy_id = 'never tried'",
        "UPDATE heuristics SET confidence_low = 0",
        "UPDATE heuristics SET confidence = 1, confidence_high = 1",
        "UPDATE heuristics SET agent = 'another' WHERE strategy = 'free the port'",
    ),
    "avoid_fails_more_than_its_peers": (
        "UPDATE anti_patterns SET baseline_rate = failure_rate",
        "UPDATE anti_patterns SET baseline_rate = NULL",
        "UPDATE anti_patterns SET kind = 'hard_task'",
    ),
    "answers_are_explained": (
        "UPDATE answerable_questions SET rests_on_count = rests_on_count + 1 WHERE question IN ('given', 'used')",
        "UPDATE answerable_questions SET rests_on_count = rests_on_count - 1 WHERE question = 'works'",
        "UPDATE answerable_questions SET rests_on_count = rests_on_count + 9 WHERE question = 'help'",
        "UPDATE answerable_questions SET is_answered = true, rests_on_count = 0 WHERE question = 'help'",
        "UPDATE answerable_questions SET is_answered = false, lacks = NULL WHERE question = 'given'",
        "UPDATE answerable_questions SET project = 'another' WHERE extent = 'project'",
        "DELETE FROM answerable_questions WHERE extent = 'all'",
    ),
    "attempts_are_explained": (
        "UPDATE heuristics SET attempts = attempts + 1",
        "UPDATE heuristics SET successes = successes - 1",
        "DELETE FROM heuristics WHERE strategy = 'free the port'",
        "INSERT INTO heuristics BY NAME SELECT * REPLACE ('another' AS agent) FROM heuristics LIMIT 1",
        "UPDATE counted_outcomes SET is_learned = true WHERE outcome_id = 'cascade'",
        "UPDATE counted_outcomes SET success = NOT success WHERE outcome_id = 'free the port-1'",
    ),
    "checks_are_counted": (
        "UPDATE memory_health SET followed_count = followed_count + 1",
        "UPDATE memory_health SET not_followed_count = 0",
        "UPDATE memory_health SET followed_low = NULL",
        "UPDATE memory_health SET followed_low = 1 WHERE followed_high IS NOT NULL",
        "DELETE FROM instruction_checks",
    ),
    "checks_are_explained": (
        "UPDATE instruction_checks SET interaction_id = 'another'",
        "UPDATE instruction_checks SET occurred_at = occurred_at + INTERVAL 1 DAY",
        "UPDATE instruction_checks SET saw = ''",
        "UPDATE memory_references SET is_injected = false",
    ),
    "chunks_are_possible": (
        "UPDATE chunk_use SET used_count = 0",
        "UPDATE chunk_use SET used_count = document_used_count + 1 WHERE document_id IS NOT NULL",
        "UPDATE chunk_use SET document_used_count = 100",
        "UPDATE chunk_use SET document_used_count = 0",
        "UPDATE chunk_use SET document_chunks_count = 1",
        "UPDATE chunk_use SET first_used_at = last_used_at + INTERVAL 1 DAY",
        "UPDATE chunk_use SET last_used_at = as_of",
    ),
    "curation_targets_exist": (
        "UPDATE curation_decisions SET target_memory_id = 'never landed', target_content = '' WHERE action = 'update'",
        "UPDATE curation_decisions SET target_memory_id = NULL, target_content = NULL WHERE action = 'update'",
        "UPDATE curation_decisions SET action = 'merge' WHERE action = 'add'",
        "UPDATE curation_decisions SET considered_ids = [] WHERE action = 'update'",
        "UPDATE curation_decisions SET considered_ids = ['a', 'a']",
        "UPDATE curation_decisions SET reason = ''",
        "UPDATE curation_decisions SET similarity = 1.01",
    ),
    "apart_counts_nowhere": (
        "UPDATE counted_outcomes SET is_counted = false",
        "UPDATE counted_outcomes SET is_attempt = false",
        "UPDATE counted_outcomes SET is_counted = false, is_deciding = false WHERE is_learned",
        "UPDATE counted_outcomes SET is_counted = false, is_learned = false WHERE is_deciding",
    ),
    "counts_are_explained": (
        "UPDATE memory_health SET injected_count = injected_count + 1",
        "UPDATE memory_health SET cited_count = cited_count + 1",
        "DELETE FROM memory_references WHERE interaction_id = 'i1'",
        "UPDATE memory_references SET memory_id = 'other' WHERE interaction_id = 'i1'",
    ),
    "counts_are_possible": (
        "UPDATE memory_health SET eligible_count = -1",
        "UPDATE memory_health SET eligible_count = echoed_count - 1",
        "UPDATE memory_health SET reference_count = echoed_count - 1",
        "UPDATE memory_health SET cited_count = -1",
    ),
    "estimates_are_possible": (
        "UPDATE heuristics SET confidence = confidence_low - 0.01",
        "UPDATE heuristics SET confidence = confidence_high + 0.01",
        "UPDATE heuristics SET confidence_low = -0.01",
        "UPDATE heuristics SET confidence_high = 1.01",
        "UPDATE heuristics SET confidence = 'nan'",
        "UPDATE heuristics SET successes = attempts + 1",
        "UPDATE heuristics SET successes = -1",
        "UPDATE heuristics SET sessions = attempts + 1",
        "UPDATE heuristics SET sessions = 0",
        "UPDATE untried_strategies SET confidence = confidence_low - 0.01",
        "UPDATE untried_strategies SET elsewhere_attempts = 0, elsewhere_successes = 0",
        "UPDATE untried_strategies SET elsewhere_successes = elsewhere_attempts + 1",
        "UPDATE untried_strategies SET twin_successes = 1",
        "UPDATE untried_strategies SET here_attempts = 0",
        "UPDATE anti_patterns SET failures = 0",
        "UPDATE anti_patterns SET failures = attempts + 1",
        "UPDATE anti_patterns SET error_failures = failures + 1",
        "UPDATE anti_patterns SET sessions = attempts + 1",
        "UPDATE anti_patterns SET e_value = -1",
        "UPDATE anti_patterns SET q_value = 1.01",
        "UPDATE anti_patterns SET baseline_rate = -0.01",
        "UPDATE memory_health SET confidence = confidence_high + 0.01",
        "UPDATE memory_health SET confidence_low = -0.01",
        "UPDATE memory_health SET lift_basis = 'matched', lift = 0.3, lift_low = 0.1, lift_high = 0.2",
        "UPDATE memory_health SET lift_basis = 'matched', lift = 0.3, lift_low = 0.1, lift_high = 1.1",
        "UPDATE memory_health SET lift_basis = 'matched', lift = NULL",
        "UPDATE memory_health SET lift_basis = NULL, lift = 0.3",
        "UPDATE memory_health SET is_harmful = true, lift = -0.3, lift_basis = 'matched'",
    ),
    "failures_are_explained": (
        "UPDATE anti_patterns SET failures = failures - 1",
        "UPDATE anti_patterns SET attempts = attempts + 1",
        "UPDATE counted_outcomes SET is_learned = false WHERE error_id IS NOT NULL",
        "UPDATE counted_outcomes SET strategy_id = 'another'",
    ),
    "failing_is_not_expected_to_succeed": ("UPDATE heuristics SET confidence = 0.51",),
    "history_ends_in_health": (
        "UPDATE memory_health SET eligible_count = eligible_count + 1",
        "UPDATE memory_health SET cited_count = cited_count + 1",
        "UPDATE memory_health SET status = 'invalid'",
        "UPDATE memory_health SET reinforced_confidence = 0.25",
        "DELETE FROM memory_health_history",
        """
        INSERT INTO memory_health_history BY NAME
        SELECT * EXCLUDE verdict REPLACE ('other' AS memory_id)
        FROM memory_health_history
        """,
    ),
    "landed_days_are_explained": (
        "UPDATE landed_days SET rows_count = rows_count + 1 WHERE landed_table = 'outcomes'",
        "DELETE FROM landed_days WHERE landed_table = 'outcomes'",
        "UPDATE landed_days SET inferred_count = 1 WHERE landed_table = 'outcomes'",
        "UPDATE landed_days SET rows_count = 0 WHERE landed_table = 'interactions'",
        "UPDATE landed_days SET project = 'another' WHERE landed_table = 'interactions'",
    ),
    "landed_days_are_possible": (
        "UPDATE landed_days SET rows_count = 0",
        "UPDATE landed_days SET late_count = rows_count + 1, late_hours_max = 25",
        "UPDATE landed_days SET inferred_count = rows_count + 1 WHERE landed_table = 'outcomes'",
        "UPDATE landed_days SET inferred_count = 1 WHERE landed_table = 'memories'",
        "UPDATE landed_days SET late_count = 1, late_hours_max = NULL",
        "UPDATE landed_days SET late_count = 1, late_hours_max = 24",
        "UPDATE landed_days SET late_hours_max = 25",
        "UPDATE landed_days SET newest_at = newest_at + INTERVAL 1 DAY",
        "UPDATE landed_days SET newest_recorded_at = as_of",
    ),
    "memory_outcomes_are_explained": (
        "UPDATE memory_health SET confirmed_count = confirmed_count + 1",
        "UPDATE memory_health SET contradicted_count = contradicted_count - 1",
        "UPDATE counted_outcomes SET is_deciding = false",
        "UPDATE counted_outcomes SET success = NOT success WHERE interaction_id = 'i1'",
    ),
    "memories_dated_late": ("UPDATE memory_health SET created_at = TIMESTAMP '2999-01-01' WHERE memory_id = 'rule'",),
    "never_landed_memories": ("UPDATE memory_health SET status = NULL",),
    "nothing_is_lost": (
        "UPDATE run_files SET delivered = delivered + 1",
        "UPDATE run_files SET quarantined = quarantined + 1",
    ),
    "observations_stand_on_active_memories": (
        "UPDATE memory_health SET status = 'archived' WHERE memory_id = 'port'",
        "UPDATE observations SET memory_ids = list_append(memory_ids, 'never landed')",
        "UPDATE observations SET supersedes = []",
        "DELETE FROM observations",
    ),
    "attempts_by_injection_are_counted": (
        "UPDATE attempts_by_injection SET attempts = attempts + 1",
        "UPDATE attempts_by_injection SET successes = attempts + 1",
        "UPDATE attempts_by_injection SET task_type = 'another'",
    ),
    "use_by_day_is_explained": (
        "UPDATE use_by_day SET injected_tokens = injected_tokens + 1",
        "UPDATE use_by_day SET unused_tokens = injected_tokens + 1",
        "UPDATE memory_health SET content = content || ', and more'",
        "UPDATE use_by_day SET injected_interactions = injected_interactions + 1000",
        "UPDATE use_by_day SET referencing_interactions = echoing_interactions + using_interactions + 1",
        "UPDATE use_by_day SET parroting_interactions = echoing_interactions + 1",
        "UPDATE use_by_day SET day = day - 1000",
    ),
    "one_run": (
        "INSERT INTO memory_references BY NAME SELECT * REPLACE ('another' AS run_id) FROM memory_references LIMIT 1",
        *[f"UPDATE {table} SET as_of = as_of - INTERVAL 1 DAY" for table in PUBLISHED],  # noqa: S608 - declared names
        *[f"UPDATE {table} SET run_id = 'another'" for table in PUBLISHED],  # noqa: S608 - declared names
    ),
    "out_of_scope_attempts": (
        "UPDATE counted_outcomes SET is_learned = false, reason = 'out of scope: coder does not learn from deploy'",
    ),
    "projects_are_explained": (
        "UPDATE project_health SET active_count = active_count + 1",
        "UPDATE project_health SET reference_count = 0",
        "UPDATE project_health SET scope_leak_count = 0",
        "UPDATE project_health SET project = 'another'",
        "UPDATE memory_health SET verdict = 'harmful'",
    ),
    "proof_is_counted": (
        "UPDATE observations SET proof_count = proof_count + 1",
        "UPDATE observations SET source_ids = list_append(source_ids, 'another')",
        "UPDATE observations SET source_ids = ['a', 'a'], source_times = [as_of, as_of], proof_count = 1",
        "UPDATE observations SET source_times = []",
        "UPDATE observations SET best_memory_id = 'another'",
        "UPDATE observations SET last_evidence_at = as_of",
        "UPDATE observations SET confidence = 1.01",
    ),
    "protected_are_not_planned": (
        "UPDATE memory_health SET pinned = true",
        "UPDATE memory_health SET is_held = true",
        "UPDATE memory_health SET eligible_count = 0, status = 'active'",
        "UPDATE memory_health SET status = 'archived'",
        "UPDATE memory_health SET status = NULL",
        "UPDATE forgetting_plan SET memory_id = 'never landed'",
    ),
    "references_are_dated": (
        "UPDATE memory_health SET first_referenced_at = NULL",
        "UPDATE memory_health SET last_referenced_at = as_of",
        "UPDATE memory_health SET last_referenced_at = first_referenced_at - INTERVAL 1 SECOND",
        "UPDATE memory_health SET reference_count = 0",
    ),
    "refused_rows": ("UPDATE run_files SET quarantined = 10, accepted = accepted - 10",),
    "reinforced_confidence_range": (
        "UPDATE memory_health SET reinforced_confidence = 1.01",
        "UPDATE memory_health SET reinforced_confidence = -0.01",
        "UPDATE memory_health SET reinforced_confidence = 'nan'",
    ),
    "review_is_explained": (
        "UPDATE review_queue SET interactions_count = interactions_count + 1",
        "UPDATE review_queue SET sessions_count = sessions_count + 1",
        "UPDATE review_queue SET in_prompt_count = 1",
        "UPDATE review_queue SET succeeded_count = succeeded_count + 1",
        "UPDATE review_queue SET failed_count = failed_count + 1",
        "UPDATE review_queue SET rank_score = rank_score + 1",
        "UPDATE review_queue SET rank = rank + 1",
        "UPDATE review_statements SET item_id = 'another'",
    ),
    "review_is_open": (
        "UPDATE memory_health SET status = 'active' WHERE memory_id = 'waits'",
        "UPDATE memory_health SET memory_id = 'another' WHERE memory_id = 'waits'",
        "UPDATE memory_health SET content = 'keep the log on disk.'",
        "UPDATE memory_health SET memory_id = (SELECT item_id FROM review_queue LIMIT 1) WHERE memory_id = 'rule'",
        "UPDATE review_queue SET kind = 'fading'",
        "UPDATE review_queue SET kind = 'fading', memory_ids = ['rule'], item_id = 'an item', fingerprint = 'b'",
    ),
    "set_aside_counts_nowhere": (
        "INSERT INTO set_aside FROM set_aside LIMIT 1",
        "UPDATE set_aside SET recorded_at = as_of",
        "UPDATE set_aside SET happened_at = as_of",
    ),
    "untried_are_not_tried": (
        """
        INSERT INTO heuristics BY NAME
        SELECT h.* REPLACE (u.task_type AS task_type)
        FROM heuristics AS h JOIN untried_strategies AS u USING (project, agent, strategy_id)
        """,
    ),
    "use_is_possible": (
        "UPDATE memory_health SET strength = 1.01",
        "UPDATE memory_health SET strength = -0.01",
        "UPDATE memory_health SET strength = 'nan'",
        "UPDATE memory_health SET strength = NULL",
        "UPDATE memory_health SET strength_state = NULL",
        "UPDATE memory_health SET need_30d = 1.01",
        "UPDATE memory_health SET need_if_active = -0.01",
        "UPDATE memory_health SET half_life_days = 0",
        "UPDATE memory_health SET reasons = []",
        "UPDATE memory_health SET verdict = 'inactive'",
        "UPDATE memory_health SET review_value = -1",
        "UPDATE memory_health SET review_value = 'nan'",
        "UPDATE memory_health_history SET strength = 1.01",
        "UPDATE memory_health_history SET strength_state = NULL",
        "UPDATE strength_fits SET half_life_days = 0",
        "UPDATE strength_fits SET reach_days = 0",
        'UPDATE strength_fits SET "references" = forecasts + 1',
    ),
}


def _listed(table: type[Table]) -> str:
    """Its columns without their old names, which hold nothing."""
    return ", ".join(f'"{column.name}"' for column in columns(table))


# the key of each table that is computed, by names that are declared
FAULTS |= {
    f"{table.name}_key": (f"INSERT INTO {table.name} SELECT {_listed(table)} FROM {table.name} LIMIT 1",)  # noqa: S608
    for table in graph.PUBLISHED
}


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Home:
    home = Home(tmp_path_factory.mktemp("audits") / "home")
    home.drop("log.jsonl", jsonl(ROWS))
    home.settings.params_file.write_text(PARAMS)
    home.lake.write_rows(Decisions, ARCHIVED["decided_at"].date(), decision_rows([ARCHIVED, KEPT, LEFT]))
    assert home.nightly(AS_OF).findings == []
    assert all(home.table(name) for name in PUBLISHED), "an audit of an empty table finds nothing"
    return home


AUDITS = {audit.name: audit for audit in audits()}


def test_every_audit_has_faults_to_find():
    assert {audit.name for audit in audits()} == FAULTS.keys()
    assert all(audit.description.endswith((".", ")")) for audit in audits())


@pytest.fixture(scope="module")
def serving(published: Home, tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    path = shutil.copy(published.current, tmp_path_factory.mktemp("serving"))
    with duckdb.connect(path) as connection:
        yield connection


@each(("name", "fault"), [(name, fault) for name, faults in FAULTS.items() for fault in faults])
def test_an_audit_finds_its_fault(serving, monkeypatch, name, fault):
    monkeypatch.setattr(serving_module, "audits", lambda: [AUDITS[name]])  # the others are asked elsewhere
    serving.begin()
    try:
        serving.execute(fault)
        (found,) = audit_findings(serving)
    finally:
        serving.rollback()
    assert found.rows >= 1
    many = f"broken by {found.rows} row" if AUDITS[name].severity == "fail" else f"{found.rows} found."
    assert str(found).startswith(f"{name}: {many}")


@pytest.mark.slow
def test_a_failed_audit_leaves_yesterday_live_and_the_run_red(published, copy_of):
    home = copy_of(published)
    before, hashes = home.current, home.hashes()
    right = health_module.judged_health

    @wraps(right)
    def wrong(**arguments) -> pl.DataFrame:
        return right(**arguments).with_columns(pl.col("injected_count") + 1)

    home.drop("late.jsonl", jsonl([{"interaction_id": "late", "created_at": START, "prompt": "?"}]))
    with (
        patch.object(health_module, "judged_health", wrong),
        pytest.raises(AuditFailedError, match="counts_are_explained: broken by 6 rows"),
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
    said = messages[result.run_id]
    assert said.startswith("never_landed_memories: 1 found. Memories that were injected or cited but never landed")
    assert said.endswith("For example memory_id '=cmd()', injected_count 1, cited_count 0")


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
import sys, time, duckdb
from pathlib import Path
query = " UNION ".join(f"SELECT run_id, as_of FROM {table}" for table in sys.argv[3:])
print("ready", flush=True)
stopping = False
while not stopping:
    stopping = Path(sys.argv[2]).exists()
    with duckdb.connect(sys.argv[1], read_only=True) as connection:
        stamps = connection.sql(query).fetchall()
    assert len(stamps) == 1, stamps
    time.sleep(0.01)
print("whole", flush=True)
"""


@pytest.mark.slow
def test_another_process_sees_only_whole_publishes(published, copy_of: Callable[[Home], Home]):
    home = copy_of(published)
    command = [sys.executable, "-c", READER, str(home.settings.current), str(home.folder / "stop"), *PUBLISHED]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as reader:
        assert reader.stdout is not None
        assert reader.stderr is not None
        assert reader.stdout.readline() == "ready\n"
        for hour in range(3):
            home.nightly(AS_OF + timedelta(hours=hour + 1))
        (home.folder / "stop").touch()
        assert reader.stderr.read() == ""
        assert reader.stdout.read() == "whole\n"


def test_a_publish_of_the_sample_has_no_failing_finding(home):
    for file in sample_files(days=2, interactions_per_day=12):
        home.drop(file.name, file.content)
    assert {finding.audit.severity for finding in home.nightly().findings} <= {"warn"}
