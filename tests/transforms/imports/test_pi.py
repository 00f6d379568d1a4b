"""What a session of pi or of OpenClaw says of its turns."""

from __future__ import annotations

import pytest
from made_rows import delivered, interactions, left_out, located, outcomes, refused, rows, winners
from pi_entries import PiSession, moment

from slowwave.transforms.imports.adapter import Context
from slowwave.transforms.imports.pi import Pi, may_begin_turn

PI = Pi()


def test_a_turn_has_its_prompt_its_answers_its_cost_and_when_it_began_and_ended() -> None:
    session = PiSession("s-1")
    session.entry("model_change", provider="maker", modelId="model-1")
    session.user("Make it faster.")
    session.say({"type": "thinking", "thinking": "a secret thought"}, "I look first.")
    session.call("c-1", "bash", "contents of queue.py", command="cat queue.py")
    session.say("It is faster.")
    (row,) = rows(PI, session.records)
    assert row == {
        "interaction_id": "pi:s-1:s-10002",
        "created_at": moment(2),
        "recorded_at": moment(6),
        "project": "shop",
        "agent": "pi",
        "client": "pi",
        "session_id": "s-1",
        "prompt": "Make it faster.",
        "response": "I look first.\n\nIt is faster.",
        "tokens": 3 * 125,
        "cost": 0.009,
        "model": "model-1",
        "tool_calls": {"bash": 1},
    }
    assert left_out(PI, session.records)["an entry of the client's own (model_change)"] == 1


@pytest.mark.parametrize("version", [1, 2, 3])
def test_every_version_of_the_format_is_told_and_read(version: int) -> None:
    session = PiSession("s-1", version)
    session.turn("First.", "Done.")
    session.turn("Second.", "Done.")
    assert PI.detect_producer(session.records) == f"pi or OpenClaw (format {version})"
    found = interactions(PI, session.records)
    assert [(row["prompt"], row["response"]) for row in found] == [("First.", "Done."), ("Second.", "Done.")]
    entries = [record.get("id") or record["timestamp"] for record in session.records]
    assert [row["interaction_id"] for row in found] == [f"pi:s-1:{entries[1]}", f"pi:s-1:{entries[3]}"]


@pytest.mark.parametrize(
    "head",
    [
        {"type": "session", "id": "s-1", "version": 4, "cwd": "/work"},
        {"type": "session", "id": "", "version": 3},
        {"type": "session", "id": "s-1"},
        {"type": "user", "id": "s-1", "version": 3},
    ],
)
def test_what_is_no_session_of_a_known_version_is_not_read(head: dict[str, object]) -> None:
    assert PI.detect_producer([head]) is None
    assert PI.detect_producer([]) is None


def test_openclaw_is_told_by_where_it_works() -> None:
    session = PiSession("s-1", cwd="/home/ann/.openclaw/workspace")
    session.turn("Hello.", "Hi.")
    (row,) = rows(PI, session.records)
    assert (row["agent"], row["client"]) == ("openclaw", "openclaw")


def test_what_openclaw_puts_around_prompts_and_answers_is_cut() -> None:
    session = PiSession("s-1")
    sender = 'Sender (untrusted metadata):\n```json\n{"name": "Ann"}\n```\n\n'
    session.turn(
        f"{sender}[Sun 2026-05-03 09:00 UTC] Which port?", "[[reply_to_current]] 5432, [[ reply_to: 4 ]]as ever."
    )
    session.turn("Is `[a] (untrusted metadata)` a link?", "No.")
    assert [(row["prompt"], row["response"]) for row in interactions(PI, session.records)] == [
        ("Which port?", "5432, as ever."), ("Is `[a] (untrusted metadata)` a link?", "No."),
    ]  # fmt: skip


def test_what_the_client_says_for_the_model_or_asks_for_itself_is_left_out() -> None:
    session = PiSession("s-1")
    session.turn("First.", "Done.")
    for model in ("delivery-mirror", "gateway-injected"):
        session.say("Sent: Done.", model=model)
    session.user("Read HEARTBEAT.md if it exists (workspace context).")
    session.say("HEARTBEAT_OK", model="delivery-mirror")
    found = interactions(PI, session.records)
    assert [(row["prompt"], row["response"]) for row in found] == [("First.", "Done.")]
    counts = left_out(PI, session.records)
    assert counts["a message that the client wrote in the model's place"] == 3
    assert counts["a prompt that the client wrote"] == 1


def test_what_a_person_runs_in_a_shell_of_their_own_is_no_turn() -> None:
    session = PiSession("s-1")
    session.entry("message", message={"role": "bashExecution", "command": "ls", "output": "a.py", "exitCode": 0})
    session.entry("message", message={"role": "custom", "content": "x"})
    assert rows(PI, session.records) == []
    assert left_out(PI, session.records)["a command of the person's own shell"] == 1


@pytest.mark.parametrize("missing", ["timestamp", "header"])
def test_a_prompt_without_a_time_or_a_session_is_refused(missing: str) -> None:
    session = PiSession("s-1")
    session.user("First.")
    if missing == "header":
        del session.records[0]
    else:
        del session.records[1]["timestamp"]
    (why,) = refused(PI, session.records)
    assert ("header of its session" if missing == "header" else "a time") in why


# ----------------------------------------------------------------------------------------------- how it ended


def test_a_prompt_asked_again_because_the_api_failed_is_one_interaction() -> None:
    session = PiSession("s-1")
    for _ in range(3):
        session.user("Which port?")
        session.failed()
    session.user("Which port?")
    session.say("5432.")
    session.turn("Which port?", "Still 5432.")
    won = winners(delivered(PI, session.records))
    found = [row for (kind, _), row in won.items() if kind == "interaction"]
    assert [(row["prompt"], row["response"], row.get("api_errors")) for row in found] == [
        ("Which port?", "5432.", 3), ("Which port?", "Still 5432.", None),
    ]  # fmt: skip
    told = [row for (kind, _), row in won.items() if kind == "outcome"]
    assert [(row["attempted"], row["evidence"]) for row in told] == [(False, "taken back")]


def test_a_turn_that_only_failed_is_no_attempt_and_no_failure() -> None:
    session = PiSession("s-1")
    session.user("Which port?")
    session.failed("401 not allowed")
    (row,) = interactions(PI, session.records)
    (outcome,) = outcomes(PI, session.records)
    assert (row["ended"], row["api_error"], row["api_errors"]) == ("api_error", "401 not allowed", 1)
    assert (outcome["attempted"], outcome["basis_method"]) == (False, "transcript_apierror/1")


def test_a_turn_that_was_stopped_is_no_attempt() -> None:
    session = PiSession("s-1")
    session.user("Go.")
    session.say("I be", reason="aborted")
    (row,) = interactions(PI, session.records)
    (outcome,) = outcomes(PI, session.records)
    assert (row["ended"], outcome["attempted"]) == ("interrupted", False)


@pytest.mark.parametrize(
    ("text", "details", "is_error", "success"),
    [
        ("3 passed in 0.12s", None, False, True),
        ("1 failed in 0.12s\n\nCommand exited with code 1", None, True, False),
        ("1 failed in 0.12s", {"exitCode": 1, "status": "failed"}, False, False),
        ("1 failed in 0.12s\n\nCommand exited with code 1", {"exitCode": "one"}, True, False),
    ],
)
def test_the_tests_that_were_run_tell_how_it_went(
    text: str, details: dict[str, object] | None, is_error: bool, success: bool
) -> None:
    session = PiSession("s-1")
    session.user("Test.")
    session.call("c-1", "bash", text, details=details, is_error=is_error, command="pytest -q")
    session.say("Tested.")
    (outcome,) = outcomes(PI, session.records)
    assert (outcome["basis_method"], outcome["success"]) == ("transcript_tests/1", success)


def test_a_turn_that_goes_on_is_left_until_the_session_is_idle() -> None:
    session = PiSession("s-1")
    session.user("Look.")
    session.say(
        {"type": "toolCall", "id": "c-1", "name": "bash", "arguments": {"command": "sleep 9"}}, reason="toolUse"
    )
    assert rows(PI, session.records, Context(is_idle=False)) == []
    assert len(rows(PI, session.records)) == 1


# ---------------------------------------------------------------------------------------------------- memories


def test_what_a_search_gave_was_offered_and_what_was_read_was_used() -> None:
    session = PiSession("s-1", cwd="/home/ann/.openclaw/workspace")
    session.user("When do we deploy?")
    results = [
        {"path": "memory/2026-05-01.md", "startLine": 3, "endLine": 9, "score": 0.8, "snippet": "Mondays"},
        {"path": "MEMORY.md", "startLine": 1, "endLine": 2, "score": 0.5, "snippet": "x"},
        {"snippet": "without a place"},
    ]
    session.call("c-1", "memory_search", "…", details={"results": results}, query="deploy")
    session.call("c-2", "memory_get", "On Mondays.", **{"path": "memory/2026-05-01.md", "from": 3, "lines": 7})
    session.call("c-3", "read", "On Mondays.", path="/home/ann/.openclaw/workspace/MEMORY.md")
    session.call("c-4", "read", "code", path="/home/ann/.openclaw/workspace/app.py")
    session.call("c-5", "memory_get", "", details={"status": "error", "error": "ENOENT"}, path="memory/2026-04-30.md")
    session.say("On Mondays.")
    (row,) = interactions(PI, session.records)
    assert row["memories_used"] == ["pi:memory/2026-05-01.md#L3", "pi:MEMORY.md"]
    assert row["memories_offered"] == [
        {"id": "pi:memory/2026-05-01.md#L3", "rank": 1, "score": 0.8},
        {"id": "pi:MEMORY.md#L1", "rank": 2, "score": 0.5},
    ]


# ---------------------------------------------------------------------------------------------- branches, forks


def test_what_was_left_for_another_branch_is_told() -> None:
    session = PiSession("s-1")
    session.turn("First.", "Done.")
    first = session.last
    session.turn("Second.", "Done.")
    session.last = first
    session.entry("branch_summary", fromId="x", summary="tried this")
    session.turn("Other second.", "Done.")
    session.last = None
    session.turn("From the start.", "Done.")
    won = winners(delivered(PI, session.records))
    assert {row["prompt"]: row.get("branch") for (kind, _), row in won.items() if kind == "interaction"} == {
        "First.": "abandoned", "Second.": "abandoned", "Other second.": "abandoned", "From the start.": None,
    }  # fmt: skip


def test_what_a_fork_copied_is_told_as_of_the_session_it_comes_from() -> None:
    first = PiSession("0190aaaa-0000-7000-8000-000000000001")
    first.turn("First.", "Done.")
    path = (
        "/home/ann/.pi/agent/sessions/--work-shop--/2026-05-03T09-00-00-000Z_0190aaaa-0000-7000-8000-000000000001.jsonl"
    )
    fork = PiSession("0190bbbb-0000-7000-8000-000000000002", begun=600, parentSession=path)
    fork.records += first.records[1:]
    fork.last = first.last
    fork.turn("Another way.", "Done.")
    of_first, of_fork = rows(PI, first.records), rows(PI, fork.records)
    assert of_fork[0] == of_first[0]
    assert of_fork[1]["session_id"] == "0190bbbb-0000-7000-8000-000000000002"
    outlines = [PI.outline(lambda _, session=session: located(session.records)) for session in (first, fork)]
    assert outlines[0].turns.keys() < outlines[1].turns.keys()
    assert [one.session for one in outlines] == [first.records[0]["id"], fork.records[0]["id"]]
    assert [len(one.turns) for one in outlines] == [1, 2]


def test_what_was_written_when_a_fork_began_is_its_own() -> None:
    fork = PiSession(
        "0190bbbb-0000-7000-8000-000000000002", parentSession="x_0190aaaa-0000-7000-8000-000000000001.jsonl"
    )
    fork.turn("First.", "Done.")
    fork.records[1]["timestamp"] = fork.records[0]["timestamp"]
    (row,) = interactions(PI, fork.records)
    assert row["session_id"] == "0190bbbb-0000-7000-8000-000000000002"


@pytest.mark.parametrize(
    ("line", "may_begin"),
    [
        (b'{"type":"session"}', True),
        (b'{"message":{"role":"user"}}', True),
        (b'{"message":{"role":"assistant"}}', False),
    ],
)
def test_lines_that_begin_no_turn_need_not_be_read_for_forks(line: bytes, may_begin: bool) -> None:
    assert may_begin_turn(line) is may_begin


@pytest.mark.parametrize("prompt", ["Read HEARTBEAT.md if it exists and follow it.", ""])
def test_what_answers_another_prompt_is_no_part_of_the_turn_before(prompt: str) -> None:
    session = PiSession("s-1")
    session.turn("Say hello.", "Hello.")
    session.user(prompt or "Drop the table.")
    if not prompt:
        session.records[-1].pop("timestamp")
    session.say("Dropped the table.")
    session.turn("Thanks.", "Gladly.")
    found = interactions(PI, session.records)
    assert [(row["prompt"], row["response"]) for row in found] == [("Say hello.", "Hello."), ("Thanks.", "Gladly.")]
    assert left_out(PI, session.records)["an answer without its prompt"] == 1
