"""Which outcomes are attempts, of which task type, and who learns from them."""

from __future__ import annotations

from datetime import timedelta

import polars as pl
import pytest
from attempt_rows import START, counted, interactions, outcomes, readings
from each import each
from learned_tables import learned

from slowwave.transforms.core.frames import framed
from slowwave.transforms.evidence.tables import ReplayedInteractions
from slowwave.transforms.learning.outcomes import (
    NOT_LEARNED,
    REPORTED_TOO,
    counted_outcomes,
    resolved_outcomes,
    with_apart,
)
from slowwave.transforms.learning.params import AgentScope, AttemptParams
from slowwave.transforms.learning.tables import AntiPatterns, Heuristics
from slowwave.transforms.params import Params

_CASCADE = "cascade: another step it depends on had failed"


def _only(row, params=None):
    return counted([row], params).row(0, named=True)


@each(
    ("error", "reason"),
    [
        ("Skipped: depends on step build", _CASCADE),
        ("depends on TestWriteFile", _CASCADE),
        ("deploy depends on install", _CASCADE),
        ("depends on the package step, which failed", _CASCADE),
        ("depends on order-service, network and template", _CASCADE),
        ("Sibling tool call errored", _CASCADE),
        ("<tool_use_error>Sibling tool call errored</tool_use_error>", _CASCADE),
        ("step deploy not run because an upstream step failed", _CASCADE),
        ("prerequisite failed", _CASCADE),
        ("depends on step 1", _CASCADE),
        ("test_b depends on test_a", _CASCADE),
        ("generate_test.py::TestA depends on venv/lib/site-packages/x/test.py::TestB", _CASCADE),
        ("Skipped: depends on step build-12 which failed", _CASCADE),
        ("<tool_use_error>Cancelled: parallel tool call errored</tool_use_error>", _CASCADE),
        ("depends on backup script which was not ready", _CASCADE),
        ("cancelled: superseded by a newer request", "cancelled"),
        ("Request was cancelled by the client after 30 s", "cancelled"),
        ("Permission denied by user", "refused by the user"),
        ("The user doesn’t want to proceed", "refused by the user"),
        ("The user has rejected the change", "refused by the user"),
        ("Permission to use Bash has been denied.", "refused by the user"),
        ("Claude requested permissions to use Bash, but you haven't granted it yet.", "refused by the user"),
        ("Error: cancelled", "cancelled"),
        ("Error: task was cancelled", "cancelled"),
        ("AbortError: This operation was aborted", "cancelled"),
        ("Skipping: dependency not met", _CASCADE),
        ("Denied by human reviewer", "refused by the user"),
        ("task was never started", "never started"),
        ("Run never started", "never started"),
        ("Task was not executed because step 1 failed", "never started"),
        ("Cancelled by user", "cancelled"),
        ("task cancelled", "cancelled"),
        ("human rejected", "refused by the user"),
        ("Command was not approved", "refused by the user"),
        ("Dependency 'build' failed", _CASCADE),
        ("Test skipped", "never started"),
        ("user cancelled the run", "cancelled"),
        ("upstream task failed", _CASCADE),
        ("ERROR: skipped", "never started"),
        ("previous step failed, skipping", _CASCADE),
        ("SIGINT", "cancelled"),
        ("approval denied", "refused by the user"),
        ("skipped", "never started"),
        ("Test was not executed", "never started"),
        ("The task never started", "never started"),
        ("did not run", "never started"),
        ("Cancelled by the user", "cancelled"),
        ("The user aborted the request", "cancelled"),
        ("Request was canceled", "cancelled"),
        ("KeyboardInterrupt", "cancelled"),
        ("The user doesn't want to proceed with this tool use", "refused by the user"),
        ("rejected by the user", "refused by the user"),
        ("The tool use was rejected", "refused by the user"),
    ],
)
def test_the_error_says_nothing_was_attempted(error, reason):
    row = _only({"success": False, "error_message": error})
    assert (row["is_attempt"], row["is_learned"], row["reason"]) == (False, False, reason)


@each(
    "error",
    [
        "pip: package a depends on b>=2, which is incompatible with b 1.4",
        "npm ERR! peer dependency conflict: x depends on y@2",
        "error: resolution failed, foo depends on bar",
        "3 tests passed, 1 skipped, 2 failed",
        "AssertionError: expected the task never started banner",
        "context cancelled while waiting for the lock",
        "transaction was aborted due to deadlock",
        "AssertionError: result depends on dict order",
        "TypeError: sort order depends on locale",
        "circular import: a depends on b",
        "compile error: template depends on undefined type",
        "3 passed, 1 failed, 2 skipped because upstream is missing",
        "upstream failed: 502",
        "dependency failed to install: build error",
        "Blocked by CORS policy because the previous response was redirected",
        "Traceback\n asyncio.exceptions.CancelledError\nDuring handling\nTimeoutError",
        "Request cancelled after timeout of 30s",
        "Operation cancelled: deadline exceeded",
        "Cancelled subscription was charged again",
        "job aborted by user limit: OOM",
        "KeyboardInterrupt expected but got SystemExit",
        "Skipped: 2, Failed: 5",
        "test skipped 2, failed 1",
        "skipped 3 rows: ValueError",
        "Skipped tests found; coverage 40% < 80%",
        "Test did not run to completion: segfault",
        "Task was never executed successfully: 5 retries failed",
        "not run as root: permission denied",
        "operator rejected the manifest: invalid spec",
        "user rejected by LDAP server",
        "login failed: user denied access, missing role",
        "assert 'user declined' == 'user accepted'",
        "connection rejected by user namespace limits",
        "Skipped 3 files; build failed: ValueError",
        "upstream failed with HTTP 502",
        "parent failed to fork: out of memory",
        "Request blocked by firewall because upstream proxy timed out",
        "ImportError: foo depends on bar which is not installed",
        "test depends on network: ConnectionError",
        "Cancelled subscription cannot be renewed",
        "Process interrupted by operator error in sensor",
        "KeyError: 'cancelled'",
        "AssertionError: expected status cancelled",
        "pip: a depends on b",
        "context canceled",
        "timeout after 30 s",
        "The conflict is caused by: requests 2.31 depends on urllib3<3",
        "permission denied",
        "the server refused the connection",
        "user does not exist",
        "user denial rate too high",
        "",
        None,
    ],
)
def test_a_real_failure_stays_an_attempt(error):
    row = _only({"success": False, "error_message": error})
    assert (row["is_attempt"], row["is_learned"], row["reason"]) == (True, True, None)


def test_a_success_with_such_an_error_is_an_attempt():
    assert _only({"success": True, "error_message": "Sibling tool call errored"})["is_attempt"]


def test_what_the_producer_says_wins_over_the_text():
    said = _only({"success": False, "attempted": True, "error_message": "Sibling tool call errored"})
    assert (said["is_attempt"], said["reason"]) == (True, None)


@pytest.mark.parametrize("success", [True, False])
def test_what_the_producer_says_wins_over_success(success):
    said = _only({"success": success, "attempted": False})
    assert (said["is_attempt"], said["reason"]) == (False, "not attempted, says the producer")


def test_only_the_head_of_an_error_is_looked_at():
    row = {"success": False, "error_message": "x" * 2_000 + " Sibling tool call errored"}
    assert _only(row)["is_attempt"]


@each(
    ("task", "task_type"),
    [
        ("Test the login page", "testing"),
        ("Validate the database schema", "testing"),
        ("call the API endpoint", "api_testing"),
        ("fill in the contact form", "form_testing"),
        ("run a database query", "database_validation"),
        ("fix the crash on start", "debugging"),
        ("rename the module", "refactoring"),
        ("summarise this thread", "writing"),
        ("contest the decision", "general"),
        ("rapid response", "general"),
        ("be kind", "general"),
        ("   ", ""),
        (None, ""),
    ],
)
def test_a_missing_task_type_is_told_from_the_task(task, task_type):
    row = _only({"task_type": None, "task": task})
    assert (row["task_type"], row["is_task_type_inferred"]) == (task_type, task_type != "")


def test_a_blank_task_type_is_missing():
    row = _only({"task_type": " ", "task": "Test it"})
    assert (row["task_type"], row["is_task_type_inferred"]) == ("testing", True)


def test_a_given_task_type_stays():
    row = _only({"task_type": "mine", "task": "Test it"})
    assert (row["task_type"], row["is_task_type_inferred"]) == ("mine", False)


def test_inferring_leaves_other_rows_alone():
    rows = counted([{"task_type": None, "task": "Test it"}, {"task_type": "mine", "task": "Test it"}])
    assert rows["task_type"].to_list() == ["testing", "mine"]
    assert rows["is_task_type_inferred"].to_list() == [True, False]


_SCOPES = AttemptParams(
    scopes=(
        AgentScope(agent="picky", can_learn=("api", "ui"), cannot_learn=("ui",)),
        AgentScope(agent="shy", cannot_learn=("api",)),
        AgentScope(agent="mute", can_learn=()),
    )
)


@pytest.mark.parametrize(
    ("agent", "task_type", "is_learned"),
    [
        ("picky", "api", True),
        ("picky", "ui", False),
        ("picky", "api_testing", False),
        ("shy", "api", False),
        ("shy", "ui", True),
        ("mute", "api", False),
        ("anyone", "api", True),
    ],
)
def test_scopes(agent, task_type, is_learned):
    row = _only({"agent": agent, "task_type": task_type}, _SCOPES)
    assert row["is_attempt"]
    assert row["is_learned"] == is_learned
    said = None if is_learned else f"out of scope: {agent} does not learn from {task_type}"
    assert row["reason"] == said


def test_out_of_scope_rows_are_reported_and_teach_nothing():
    rows = [
        {"agent": agent, "task_type": "api", "strategy": "broken", "success": False, "error_message": "boom"}
        for agent in ("shy", "anyone")
        for _ in range(20)
    ]
    rows += [{"agent": agent, "task_type": "api", "strategy": "fine"} for agent in ("shy", "anyone") for _ in range(20)]
    found = learned(outcomes(rows), START + timedelta(days=9), Params(attempts=_SCOPES))
    assert found.tables[Heuristics]["agent"].unique().to_list() == ["anyone"]
    assert found.tables[AntiPatterns]["agent"].to_list() == ["anyone"]
    assert found.counted.attempts.height == 80


def test_without_a_strategy_there_is_nothing_to_learn():
    row = _only({"strategy": None})
    assert (row["is_attempt"], row["is_learned"], row["reason"]) == (True, False, "no strategy")


def test_project_agent_session_and_user_come_from_the_interaction():
    told = outcomes(
        [
            {"interaction_id": "i", "project": None, "agent": None, "session_id": None},
            {"interaction_id": "i", "project": "own", "agent": "", "session_id": "own", "user_id": "own"},
            {"interaction_id": "gone", "project": None, "agent": None, "session_id": None},
        ]
    )
    its = dict.fromkeys(("project", "agent", "session_id", "user_id"), "its")
    theirs = interactions([{"interaction_id": "i", **its}])
    whose = framed(ReplayedInteractions, theirs.lazy(), partial=True)
    found = resolved_outcomes(told, whose).sort("outcome_id")
    assert found.columns == told.columns
    assert found.select("project", "agent", "session_id", "user_id").rows() == [
        ("its", "its", "its", "its"),
        ("own", "", "own", "own"),
        ("", "", None, None),
    ]


def test_interactions_are_not_looked_at_where_every_outcome_says_all():
    said = {"interaction_id": "i", "user_id": "own"}
    unread = pl.LazyFrame(schema=interactions([]).schema).map_batches(lambda _: pytest.fail("was read"))
    told = outcomes([said, {**said, "interaction_id": None, "user_id": None}])
    assert resolved_outcomes(told, framed(ReplayedInteractions, unread, partial=True)).equals(told)


@pytest.mark.parametrize(
    ("session", "interaction", "block"), [("s", "i", "s"), (None, "i", "i"), (None, None, "o00000")]
)
def test_the_block_is_the_session_else_the_interaction_else_itself(session, interaction, block):
    assert _only({"session_id": session, "interaction_id": interaction})["block"] == block


@pytest.mark.parametrize("hours", [-5, 5])
def test_an_outcome_counts_from_when_it_is_known(hours):
    recorded = START + timedelta(hours=hours)
    assert _only({"created_at": START, "recorded_at": recorded})["known_at"] == max(START, recorded)


def test_the_latest_attempt_of_an_interaction_decides():
    rows = [
        {"interaction_id": "i", "success": False},
        {"interaction_id": "i", "created_at": START + timedelta(hours=9)},
        {"interaction_id": "i", "created_at": START + timedelta(hours=9)},
        {"interaction_id": "i", "created_at": START + timedelta(hours=10), "attempted": False},
        {"interaction_id": None},
    ]
    assert counted(rows)["is_deciding"].to_list() == [False, False, True, False, False]


INFERRED = {"interaction_id": "i", "basis": "inferred", "basis_method": "transcript_tests/1"}
LEARNING = AttemptParams(learn_from_inferred=True)
_STANDING = ("basis", "is_attempt", "is_counted", "is_learned", "is_deciding", "reason")


def _standing(rows, params=None):
    return counted(rows, params).select(_STANDING).rows()


def test_an_inferred_outcome_is_an_attempt_that_counts_for_nothing_unless_params_say_so():
    assert _standing([INFERRED]) == [("inferred", True, False, False, False, NOT_LEARNED)]
    assert _standing([INFERRED], LEARNING) == [("inferred", True, True, True, True, None)]


@each("basis", [None, "", "reported", "evaluated"])
@each("params", [AttemptParams(), LEARNING])
def test_what_was_reported_or_evaluated_counts_and_no_inferred_one_takes_its_place(basis, params):
    said = {"interaction_id": "i", "basis": basis, "basis_method": "judge/1"}
    told = _standing([{**INFERRED, "success": False}, said, {**INFERRED, "success": False}], params)
    reason = REPORTED_TOO if params.learn_from_inferred else NOT_LEARNED
    apart = ("inferred", True, False, False, False, reason)
    assert told == [apart, (basis or "reported", True, True, True, True, None), apart]


def test_one_that_was_no_attempt_stands_before_what_is_inferred_too():
    told = _standing([{"interaction_id": "i", "attempted": False}, INFERRED], LEARNING)
    assert told[1][2:] == (False, False, False, REPORTED_TOO)


def test_of_several_that_are_inferred_the_latest_decides():
    rows = [INFERRED, {**INFERRED, "success": False}, {**INFERRED, "attempted": False, "success": False}]
    assert [row[4] for row in _standing(rows, LEARNING)] == [False, True, False]
    other = {**INFERRED, "interaction_id": "another"}
    assert [row[4] for row in _standing([INFERRED, other, {"interaction_id": "third"}], LEARNING)] == [True] * 3


def test_inferred_ones_of_no_interaction_are_not_taken_for_those_of_one():
    rows = [{"interaction_id": None}, {**INFERRED, "interaction_id": None}]
    assert _standing(rows, LEARNING)[1] == ("inferred", True, True, True, False, None)


def test_another_reason_is_told_first():
    cancelled = {**INFERRED, "success": False, "attempted": False}
    assert _standing([cancelled])[0] == (
        "inferred", False, False, False, False, "not attempted, as was inferred",
    )  # fmt: skip


def test_groups_and_errors_are_those_of_the_project():
    rows = outcomes([{"project": p, "strategy": "s", "success": False, "error_message": "e"} for p in "pq"])
    groups = pl.DataFrame({"project": ["p", "q"], "strategy": ["s", "s"], "strategy_id": ["sp", "sq"]})
    errors = pl.DataFrame({"project": ["p", "q"], "error_message": ["e", "e"], "error_id": ["ep", "eq"]})
    told = with_apart(rows, AttemptParams())
    found = counted_outcomes(told, groups, errors, readings(told, AttemptParams()), AttemptParams())
    assert found.select("strategy_id", "error_id").rows() == [("sp", "ep"), ("sq", "eq")]


def test_the_order_of_rows_does_not_matter():
    rows = [{"outcome_id": f"o{n}", "interaction_id": f"i{n % 2}", "success": n % 3 == 0} for n in range(7)]
    expected = counted([{**row, "created_at": START} for row in rows])
    assert counted([{**row, "created_at": START, "session_id": None} for row in rows])["block"].n_unique() == 2
    again = counted([{**row, "created_at": START, "session_id": f"s{row['outcome_id'][1:]:0>5}"} for row in rows[::-1]])
    assert again.equals(expected)
