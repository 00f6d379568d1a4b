"""Rollouts of Codex as rows, by records made up after the published format: no client wrote them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from codex_rollouts import (
    Paginated,
    Record,
    at,
    drawn_id,
    epoch,
    event,
    given,
    legacy_turn,
    line,
    meta,
    shell_call,
    total,
)
from each import each
from hypothesis import given as drawn
from hypothesis import strategies as st

from slowwave.transforms.imports.adapter import Context, LeftOut, Located, Made, OptionsError, Refused, Row
from slowwave.transforms.imports.codex import CodexAdapter

THREAD, TURN, LATER = drawn_id(0, 1), drawn_id(10, 2), drawn_id(60, 3)
CITATION = (
    "<oai-mem-citation>\n<citation_entries>\nMEMORY.md:12-14|note=[where totals are]\n"
    "rollout_summaries/sums.md:3-3|note=[]\n</citation_entries>\n"
    "<rollout_ids>\n0196aaaa-0000-7000-8000-000000000001\n</rollout_ids>\n</oai-mem-citation>"
)


def made_of(records: list[Record], **context: Any) -> list[Made]:
    """What the adapter makes of the records of one rollout."""
    located = (Located(number, record) for number, record in enumerate(records, start=1))
    return list(CodexAdapter().make_rows(located, Context(**context)))


def rows_of(records: list[Record], **context: Any) -> list[dict[str, Any]]:
    """The fields of all rows."""
    return [one.fields for one in made_of(records, **context) if isinstance(one, Row)]


def interactions_of(records: list[Record], **context: Any) -> list[dict[str, Any]]:
    """The interactions among them."""
    return [row for row in rows_of(records, **context) if "prompt" in row]


def left_out_of(records: list[Record], **context: Any) -> Counter[str]:
    """What was left out, by sort."""
    return Counter({one.sort: one.count for one in made_of(records, **context) if isinstance(one, LeftOut)})


def paginated() -> Paginated:
    """Two turns of the later generation: one that is tested and cites memories, one that is refused something."""
    rollout = Paginated(0, THREAD)
    rollout.begin(10, TURN, "add the totals")
    rollout.command(12, TURN, "sed -n 1,40p ~/.codex/memories/MEMORY.md", "…", 0)
    rollout.say(13, TURN, "I look at the sums first.", "commentary")
    rollout.command(20, TURN, "cd app && pytest -q 2>&1 | tail -3", "..\n2 passed in 0.10s", 0)
    entry = {"path": "MEMORY.md", "lineStart": 12, "lineEnd": 14, "note": "where totals are"}
    citation = {"entries": [entry], "rolloutIds": ["0196aaaa-0000-7000-8000-000000000001"]}
    rollout.add(given(28, "assistant", f"Totals are added.\n\n{CITATION}", phase="final_answer"))
    rollout.say(28, TURN, "Totals are added.", "final_answer", memory_citation=citation)
    rollout.usage(21, TURN, "r1", 900, 60)
    rollout.usage(29, TURN, "r2", 1000, 40)
    rollout.usage(29, TURN, "r2", 1000, 40)
    rollout.complete(40, TURN, "Totals are added.")
    rollout.begin(60, LATER, "delete the old file")
    rollout.command(65, LATER, "rm old.txt", "", None, status="declined")
    rollout.add(
        event(66, "turn_aborted", turn_id=LATER, reason="interrupted", completed_at=epoch(66), duration_ms=6_000)
    )
    return rollout


def legacy() -> list[Record]:
    """The first of these turns in the earlier generation."""
    return [
        meta(0, THREAD, "0.147.0"),
        given(0, "user", "# AGENTS.md instructions for /home/ann/work\n\n<INSTRUCTIONS>\nBe brief.\n</INSTRUCTIONS>"),
        *legacy_turn(
            10,
            TURN,
            "add the totals",
            "Totals are added.",
            total(15, 900, 60),
            *shell_call(20, "c1", "cd app && pytest -q 2>&1 | tail -3", "..\n2 passed in 0.10s", 0),
            total(25, 1900, 100),
            total(26, 1900, 100),
        ),
    ]


def test_a_turn_of_the_later_generation() -> None:
    first, tests, second, refused = rows_of(paginated().records)
    assert first == {
        "interaction_id": f"codex:{TURN}",
        "created_at": "2026-05-04T10:00:10Z",
        "recorded_at": "2026-05-04T10:00:40Z",
        "project": "my ledger",
        "agent": "codex",
        "client": "codex_cli_rs/0.153.4",
        "session_id": THREAD,
        "prompt": "add the totals",
        "response": "Totals are added.",
        "duration_ms": 30_000.0,
        "tokens": 2000,
        "memories_used": ["codex:MEMORY.md#L12-14", "codex:rollout_summaries/sums.md#L3-3", "codex:MEMORY.md"],
        "memories_cited": ["codex:MEMORY.md#L12-14", "codex:rollout_summaries/sums.md#L3-3"],
        "cited_threads": ["0196aaaa-0000-7000-8000-000000000001"],
        "model": "gpt-5.5",
        "git_branch": "totals",
    }
    assert (tests["basis_method"], tests["success"]) == ("transcript_tests/1", True)
    assert (second["prompt"], second["ended"]) == ("delete the old file", "interrupted")
    assert (refused["basis_method"], refused["attempted"]) == ("transcript_interrupt/1", False)


def test_a_turn_of_the_earlier_generation_is_one_though_all_is_there_twice() -> None:
    first, tests = rows_of(legacy())
    assert first["interaction_id"] == f"codex:{TURN}"
    assert (first["created_at"], first["recorded_at"]) == ("2026-05-04T10:00:10Z", "2026-05-04T10:00:40Z")
    assert (first["prompt"], first["response"], first["tokens"]) == ("add the totals", "Totals are added.", 2000)
    assert (first["project"], first["client"], first["model"]) == ("ledger", "codex_cli_rs/0.147.0", "gpt-5.2-codex")
    assert (tests["basis_method"], tests["success"], tests["evidence_call_id"]) == ("transcript_tests/1", True, "c1")
    assert left_out_of(legacy())["messages that Codex wrote in the user's name"] == 2


def test_what_an_answer_cites_is_read_from_its_text_where_nothing_else_says_it() -> None:
    (row,) = interactions_of([meta(0, THREAD, "0.130.0"), *legacy_turn(10, TURN, "add", f"Added.\n\n{CITATION}")])
    assert row["response"] == "Added."
    assert row["memories_cited"] == ["codex:MEMORY.md#L12-14", "codex:rollout_summaries/sums.md#L3-3"]
    assert row["cited_threads"] == ["0196aaaa-0000-7000-8000-000000000001"]


def test_tokens_of_a_second_turn_are_what_the_total_grew_by() -> None:
    more = legacy_turn(60, LATER, "and the means", "Done.", total(65, 2900, 160))
    assert [row["tokens"] for row in interactions_of(legacy() + more)] == [2000, 1060]


def test_rollouts_that_do_not_mark_where_turns_begin_have_one_for_each_prompt() -> None:
    records = [meta(0, THREAD, "0.44.0")]
    for number, seconds in enumerate((10, 60), start=1):
        turn = legacy_turn(seconds, "", f"prompt {number}", f"answer {number}")
        records += [one for one in turn if one["payload"].get("type") not in {"task_started", "task_complete"}]
    first, second = interactions_of(records)
    assert (first["prompt"], first["response"]) == ("prompt 1", "answer 1")
    assert [first["interaction_id"], second["interaction_id"]] == [f"codex:{THREAD}:1", f"codex:{THREAD}:2"]
    assert (first["created_at"], first["recorded_at"]) == (at(10), at(39))
    # the last one may go on
    assert len(interactions_of(records, is_idle=False)) == 1


def test_without_events_what_the_model_was_given_is_what_was_asked() -> None:
    records = [meta(0, THREAD, "0.40.0")]
    for seconds, name in ((10, "first"), (60, "second")):
        records += [
            given(seconds, "user", f"<environment_context>{name}</environment_context>"),
            given(seconds, "user", f"the {name} thing", " and more"),
            given(seconds + 5, "assistant", f"did the {name} thing"),
        ]
    assert [(row["prompt"], row["response"]) for row in interactions_of(records)] == [
        ("the first thing\n and more", "did the first thing"),
        ("the second thing\n and more", "did the second thing"),
    ]


def test_the_final_answer_is_the_response_and_what_was_said_on_the_way_only_without_one() -> None:
    rollout = Paginated(0, THREAD)
    rollout.begin(10, TURN, "add the totals")
    rollout.say(11, TURN, "I begin.", "commentary")
    rollout.say(12, TURN, "I go on.", "commentary")
    cut_off = list(rollout.records)
    rollout.say(13, TURN, "It is done.", "final_answer")
    assert interactions_of(rollout.records)[0]["response"] == "It is done."
    assert interactions_of(cut_off)[0]["response"] == "I begin.\n\nI go on."


def test_what_is_said_while_the_agent_works_belongs_to_its_turn() -> None:
    rollout = Paginated(0, THREAD)
    rollout.begin(10, TURN, "add the totals")
    rollout.say(11, TURN, "I begin.", "commentary")
    rollout.add(given(12, "user", "and the means"))
    rollout.item(12, TURN, "UserMessage", content=[{"type": "text", "text": "and the means"}])
    rollout.say(13, TURN, "Both are done.", "final_answer")
    rollout.complete(14, TURN, "Both are done.")
    (row,) = interactions_of(rollout.records)
    assert row["prompt"] == "add the totals\n\nand the means"


def test_what_an_editor_put_before_a_prompt_is_no_part_of_it() -> None:
    prompt = "# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\nadd the totals"
    (row,) = interactions_of([meta(0, THREAD, "0.147.0"), *legacy_turn(10, TURN, prompt, "Done.")])
    assert row["prompt"] == "add the totals"


def test_turns_that_were_taken_back_are_said_to_be_so_from_then_on() -> None:
    rollout = paginated()
    again, kept = drawn_id(80, 4), drawn_id(120, 5)
    rollout.begin(80, again, "add the means")
    rollout.complete(90, again, "Done.")
    before = {row["interaction_id"]: row for row in interactions_of(rollout.records)}
    rollout.add(event(100, "thread_rolled_back", num_turns=2))
    rollout.begin(120, kept, "add the medians")
    rollout.complete(130, kept, "Done.")
    rows = {row["interaction_id"]: row for row in interactions_of(rollout.records)}
    assert [row.get("branch") for row in rows.values()] == [None, "abandoned", "abandoned", None]
    for turn_id in (LATER, again):
        old, new = before[f"codex:{turn_id}"], rows[f"codex:{turn_id}"]
        assert (old | {"branch": "abandoned", "recorded_at": at(100)}) == new
        assert old["recorded_at"] < new["recorded_at"]
    taken_back = [row for row in rows_of(rollout.records) if row.get("interaction_id") == f"codex:{again}"][1:]
    assert [(row["basis_method"], row["attempted"]) for row in taken_back] == [("transcript_interrupt/1", False)]


def fork_of(rollout: Paginated, seconds: float, **more: Any) -> tuple[Paginated, str]:
    """A fork with one turn of its own: the records of the thread once more, all written down when it was forked."""
    child, turn_id = drawn_id(seconds, 8), drawn_id(seconds + 10, 9)
    fork = Paginated(seconds, child, forked_from_id=rollout.thread_id, **more)
    for record in rollout.records:
        fork.add(record | {"timestamp": at(seconds)})
    fork.begin(seconds + 10, turn_id, "add the means instead")
    fork.complete(seconds + 20, turn_id, "Done.")
    return fork, turn_id


def test_a_fork_has_the_rows_of_its_thread_once_more_and_its_own() -> None:
    rollout = paginated()
    fork, turn_id = fork_of(rollout, 500)
    *copied, own = interactions_of(fork.records)
    assert copied == interactions_of(rollout.records)
    assert own["interaction_id"] == f"codex:{turn_id}"
    assert (own["session_id"], own["parent_thread"]) == (fork.thread_id, THREAD)


def test_of_copies_whose_thread_or_time_cannot_be_told_nothing_is_made() -> None:
    rollout = paginated()
    fork, turn_id = fork_of(rollout, 500)
    no_thread = [one for one in fork.records if one["type"] != "session_meta" or one["payload"]["id"] != THREAD]
    assert [row["interaction_id"] for row in interactions_of(no_thread)] == [f"codex:{turn_id}"]
    assert left_out_of(no_thread)["turns copied from the thread this one was forked from"] == 2
    untimed = [
        one | {"payload": {k: v for k, v in one["payload"].items() if k not in {"started_at", "completed_at"}}}
        for one in fork.records
    ]
    assert [row["interaction_id"] for row in interactions_of(untimed)] == [f"codex:{turn_id}"]


def test_a_fork_of_the_earliest_generation_begins_with_what_was_written_in_one_go() -> None:
    records = [meta(500, drawn_id(500, 8), "0.44.0", forked_from_id=THREAD), meta(500, THREAD, "0.44.0")]
    for seconds, prompt in ((500.01, "the first thing"), (500.02, "the second thing"), (530, "the third thing")):
        records += [event(seconds, "user_message", message=prompt), event(seconds, "agent_message", message="Done.")]
    assert [row["prompt"] for row in interactions_of(records)] == ["the third thing"]


def test_a_subagent_is_of_its_parents_session_and_has_its_role() -> None:
    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": THREAD, "depth": 1, "agent_role": "reviewer"}}}
    child = Paginated(100, drawn_id(100, 6), session_id=THREAD, source=spawned, subagent_history_start_ordinal="4")
    parent = paginated().records
    child.add(*(one | {"timestamp": at(100)} for one in (parent[0], parent[1], parent[2])))
    own = drawn_id(101, 7)
    child.begin(101, own, "look at the totals")
    child.say(102, own, "They are right.", "final_answer")
    child.complete(103, own, "They are right.")
    (row,) = interactions_of(child.records)
    assert (row["interaction_id"], row["agent"], row["session_id"]) == (f"codex:{own}", "reviewer", THREAD)
    assert (row["thread_id"], row["parent_thread"]) == (child.thread_id, THREAD)


def test_the_ordinal_that_a_subagents_history_ends_at_decides_where_it_is_said() -> None:
    child = Paginated(100, "child-of-no-version", forked_from_id=THREAD, subagent_history_start_ordinal=7)
    child.add(meta(0, THREAD, "0.153.4"))
    for name in ("turn-of-the-parent", "turn-of-its-own"):
        child.begin(100, name, f"prompt of the {name}")
        child.complete(103, name, "Done.")
    assert [row["prompt"] for row in interactions_of(child.records)] == [
        "prompt of the turn-of-the-parent",
        "prompt of the turn-of-its-own",
    ]
    assert [row["session_id"] for row in interactions_of(child.records)] == [THREAD, "child-of-no-version"]


def test_how_a_command_ended_is_what_codex_says_and_not_what_the_model_was_told() -> None:
    rollout = Paginated(0, THREAD)
    rollout.begin(10, TURN, "build it")
    begun, answered = shell_call(20, "c1", "cargo build", "…", 101)
    rollout.add(begun)
    rollout.command(21, TURN, "cargo build", "", 0, id="c1")
    rollout.add(answered)
    rollout.complete(30, TURN, "Done.")
    assert [row["success"] for row in rows_of(rollout.records)[1:]] == [True]


@pytest.mark.parametrize(
    "more",
    [
        {"source": {"subagent": "review"}},
        {"source": {"subagent": "compact"}},
        {"source": {"subagent": {"other": "guardian"}}},
        {"source": {"subagent": "memory_consolidation"}},
        {"thread_source": "memory_consolidation"},
    ],
)
def test_threads_that_codex_started_for_itself_make_no_rows(more: dict[str, Any]) -> None:
    rollout = Paginated(0, THREAD, **more)
    rollout.begin(10, TURN, "consolidate")
    rollout.complete(20, TURN, "Done.")
    assert rows_of(rollout.records) == []
    ((sort, count),) = left_out_of(rollout.records).items()
    assert "started for itself" in sort
    assert count == len(rollout.records) - 1


@pytest.mark.parametrize(
    ("event_of_end", "ended", "attempted"),
    [
        (event(40, "turn_aborted", turn_id=TURN, reason="interrupted"), "interrupted", False),
        (event(40, "turn_aborted", turn_id=TURN, reason="replaced"), "interrupted", False),
        (event(40, "turn_aborted", turn_id=TURN, reason="budget_limited"), "cut off", None),
        (event(40, "task_complete", turn_id=TURN, error={"message": "usage limit"}), "api_error", False),
        (event(40, "task_started", turn_id=LATER), "cut off", None),
    ],
)
def test_a_turn_that_did_not_come_to_its_end_has_no_result(
    event_of_end: Record, ended: str, attempted: bool | None
) -> None:
    rollout = Paginated(0, THREAD)
    rollout.begin(10, TURN, "add the totals")
    rollout.command(20, TURN, "pytest", "1 failed in 0.10s", 1)
    rollout.add(event_of_end)
    first, *outcomes = rows_of(rollout.records)
    assert first["ended"] == ended
    assert [row.get("attempted") for row in outcomes] == ([] if attempted is None else [attempted])


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("Exit code: 1\nWall time: 0.4 seconds\nOutput:\nboom", False),
        (
            "Chunk ID: 1f\nWall time: 0.4 seconds\nProcess exited with code 0\nOriginal token count: 9\nOutput:\nok",
            True,
        ),
        ("Chunk ID: 1f\nWall time: 9.0 seconds\nProcess running with session ID 7\nOutput:\nok", None),
        ('{"output": "boom", "metadata": {"exit_code": 2, "duration_seconds": 0.1}}', False),
        ("no header at all", None),
        ({"content": "Exit code: 0\nWall time: 0.4 seconds\nOutput:\nok", "success": True}, True),
        ([{"type": "input_text", "text": "Exit code: 0\nWall time: 0.4 seconds\nOutput:\nok"}], True),
    ],
)
def test_exit_codes_are_read_from_what_the_model_was_told(output: object, said: bool | None) -> None:
    called = {"name": "exec_command", "arguments": '{"cmd": "cargo build"}', "call_id": "c1"}
    records = [
        meta(0, THREAD, "0.147.0"),
        *legacy_turn(
            10,
            TURN,
            "build it",
            "Done.",
            line(20, "response_item", type="function_call", **called),
            line(21, "response_item", type="function_call_output", call_id="c1", output=output),
        ),
    ]
    outcomes = [row["success"] for row in rows_of(records)[1:]]
    assert outcomes == ([] if said is None else [said])


@pytest.mark.parametrize("output", ["exec command rejected by user", "aborted by user after 3.1s"])
def test_a_turn_that_ends_with_a_call_refused_was_no_attempt(output: str) -> None:
    calls = shell_call(20, "c1", "rm old.txt", output, None)
    (outcome,) = rows_of([meta(0, THREAD, "0.147.0"), *legacy_turn(10, TURN, "tidy up", "", *calls)])[1:]
    assert outcome["attempted"] is False


def test_a_rollout_that_does_not_say_of_which_thread_is_refused_turn_by_turn() -> None:
    made = made_of(legacy_turn(10, "", "add the totals", "Done."))
    assert [one.reason for one in made if isinstance(one, Refused)] == [
        "a turn of a rollout that does not say of which thread: its session_meta record is missing"
    ]


def test_tool_results_are_in_no_row() -> None:
    assert "passed in" not in str(rows_of(paginated().records, infers=False))


def test_an_option_that_there_is_not_is_refused_by_its_name() -> None:
    with pytest.raises(OptionsError, match="'infer'"):
        made_of(legacy(), options={"infer": True})


def test_what_a_rollout_is_told_by() -> None:
    adapter = CodexAdapter()
    assert adapter.detect_producer(paginated().records[:3]) == "Codex 0.153.4"
    assert adapter.detect_producer(legacy_turn(0, "", "x", "y")) == "Codex"
    assert adapter.detect_producer([{"type": "session", "id": "s1", "version": 3}]) is None
    assert adapter.detect_producer([{"type": "user", "uuid": "u", "message": {"role": "user"}}]) is None


def test_half_of_a_rollout_gives_what_all_of_it_gives_later_or_the_same() -> None:
    records = paginated().records
    whole = {row["interaction_id"]: row for row in interactions_of(records)}
    for count in range(len(records)):
        for row in interactions_of(records[:count], is_idle=True):
            final = whole[row["interaction_id"]]
            assert row == final or row["recorded_at"] < final["recorded_at"] or "ended" in final


@each(
    "part",
    [
        " ",
        "#",
        "a:1-",
        "<oai-mem-citation>",
        "<oai-mem-citation>a:",
        "<oai-mem-citation><rollout_ids>",
        "/memories/skills/*",
        "$(",
        "'",
        "1 passed, ",
        "\\",
    ],
)
def test_long_and_hostile_texts_are_read(part: str) -> None:
    long = part * (300_000 // len(part))
    rollout = Paginated(0, THREAD)
    rollout.begin(10, TURN, f"# Context from my IDE setup:{long}")
    rollout.command(12, TURN, f"cat memories/{long[:90_000]}", long, 0)
    rollout.command(13, TURN, "pytest", f"{long}\n1 passed in 0.1s", 0)
    rollout.say(14, TURN, f"Done.{long}", "final_answer")
    rollout.complete(15, TURN, long)
    first, *_ = rows_of(rollout.records)
    assert first["response"].startswith("Done.")


_ODD: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=4,
)


@drawn(st.data())
def test_whatever_stands_in_a_record_the_others_are_read(data: st.DataObject) -> None:
    records = paginated().records + legacy()[1:]
    place = data.draw(st.integers(1, len(records) - 1))
    name = data.draw(st.sampled_from(sorted(records[place]["payload"]) or ["type"]))
    records[place] = records[place] | {"payload": records[place]["payload"] | {name: data.draw(_ODD)}}
    assert made_of(records)
    records[place] = records[place] | {"payload": data.draw(_ODD), "timestamp": data.draw(_ODD)}
    assert made_of(records)


def test_a_message_that_is_written_again_counts_in_its_last_state_and_a_response_for_one_turn() -> None:
    rollout = Paginated(0, THREAD)
    rollout.begin(10, TURN, "Which port?")
    for text in ("41", "4173.", "4173."):
        rollout.item(12, TURN, "AgentMessage", id="msg-1", content=[{"type": "Text", "text": text}])
    rollout.usage(13, TURN, "r1", 900, 60)
    rollout.complete(14, TURN, "4173.")
    rollout.begin(60, LATER, "And then?")
    rollout.usage(61, LATER, "r1", 900, 60)
    rollout.usage(61, LATER, "r2", 1000, 40)
    rollout.say(62, LATER, "Nothing.", "final_answer")
    rollout.complete(63, LATER, "Nothing.")
    found = [(row["response"], row["tokens"]) for row in interactions_of(rollout.records)]
    assert found == [("4173.", 960), ("Nothing.", 1040)]
