"""State changes in real logs: how many of those found are right, and how many of those that a person marked are found.

The sheets beside this hold ids and verdicts, and no text. What was marked in a log was marked by reading it, before the
method ran on it; what was found was read one by one. `conv-47`, `conv-50` and the coding session `4d5611e5` were marked
before any rule was written, `conv-43` and `conv-48` before the rules that had been mended on the others ran on them.
`conv-42`, `conv-44` and the session `8463c716` were marked by a reader who had seen no rule. The rules of `observe/2`
to `observe/5` were made with all of these in sight; `observe/6` keeps those of them that read what is declared, so that
most of what prose tells is not found.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import real_rows
from observation_rows import START
from state_change_log import ALIKE, CHANGES, TICKED

from slowwave.transforms.observations.states.changes import StateChange, changes_of_state

pytestmark = pytest.mark.shared_data
is_here = pytest.mark.skipif(not real_rows.FOLDER.is_dir(), reason="the real logs are not beside the checkout")
SHEETS = Path(__file__).parent / "sheets"
SESSIONS = ("4d5611e5", "8463c716", "6c2214d7")
LEAST_SENTENCE = 12
PAGE = (Path(__file__).parents[2] / "transforms" / "README.md").read_text()
Found = tuple[str, str | None, str]


def sheet(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (SHEETS / name).read_text().splitlines()]


def changes_in(rows: list[tuple[str, int, datetime, str]]) -> list[tuple[str | None, str, StateChange]]:
    """The changes found in rows of id, scope, time and text: the ids of both statements, the first None if told."""
    frame = pl.DataFrame(
        [(number, scope, at, at, text) for number, (_, scope, at, text) in enumerate(rows)],
        schema={
            "statement": pl.Int64,
            "scope": pl.Int64,
            "first_at": pl.Datetime("us"),
            "last_at": pl.Datetime("us"),
            "content": pl.String,
        },
        orient="row",
    )
    found = changes_of_state(frame)
    return [(None if one.earlier is None else rows[one.earlier][0], rows[one.later][0], one) for one in found]


def conversations() -> Iterator[tuple[str, list[tuple[str, int, datetime, str]]]]:
    """The memories of each dialogue; those of one type may meet."""
    memories = pl.read_parquet(real_rows.FOLDER / "locomo" / "memories.parquet").sort("created_at", "id")
    types = {name: number for number, name in enumerate(sorted(memories["type"].unique()))}
    for (project,), some in memories.group_by("project", maintain_order=True):
        yield (
            str(project),
            [
                (one.removeprefix(f"{project}-"), types[kind], at.replace(tzinfo=None), text)
                for one, kind, at, text in some.select("id", "type", "created_at", "content").iter_rows()
            ],
        )


def coding_sessions() -> Iterator[tuple[str, list[tuple[str, int, datetime, str]]]]:
    """The sentences of what an agent said in each session, numbered by answer and sentence."""
    log = pl.read_parquet(real_rows.FOLDER / "claude_code" / "interactions.parquet").sort("created_at", "id")
    for session in SESSIONS:
        said = log.filter(
            pl.col("session_id").str.starts_with(session), pl.col("task_type") == "assistant_text"
        ).select("created_at", "response")
        rows = []
        for number, (at, text) in enumerate(said.iter_rows()):
            lines = [re.sub(r"^\s*([-*]|\d+\.)\s+", "", line).strip() for line in (text or "").split("\n")]
            sentences = [one for line in lines for one in re.split(r"(?<=[.!?])\s+", line)]
            kept = [one for one in sentences if len(one) > LEAST_SENTENCE]
            rows += [(f"{number}.{place}", 0, at.replace(tzinfo=None), one) for place, one in enumerate(kept)]
        yield f"claude_code {session}", rows


def is_named(given: list[str], found: str | None) -> bool:
    """Whether an id is among those marked; of a coding session the answer is enough."""
    return found is None or found in given or found.split(".")[0] in given


def marks_found(marks: list[dict[str, Any]], found: list[tuple[str | None, str, StateChange]]) -> int:
    """How many marks are met, each by a change of its own."""
    meeting = [
        [n for n, (a, b, _) in enumerate(found) if is_named(mark["earlier"], a) and is_named(mark["later"], b)]
        for mark in marks
    ]
    taken: dict[int, int] = {}

    def is_met(mark: int, tried: set[int]) -> bool:
        for change in meeting[mark]:
            if change not in tried:
                tried.add(change)
                if change not in taken or is_met(taken[change], tried):
                    taken[change] = mark
                    return True
        return False

    return sum(is_met(mark, set()) for mark in range(len(marks)))


@is_here
def test_changes_found_are_right_and_changes_marked_are_found() -> None:
    read = {(row["log"], row["earlier"], row["later"]): row["is_right"] for row in sheet("state_changes_read.ndjson")}
    marked = sheet("state_changes_marked.ndjson")
    right, unread, found_marks = [], [], []
    for log, rows in (*conversations(), *coding_sessions()):
        found = changes_in(rows)
        right += [read[log, a, b] for a, b, _ in found if (log, a, b) in read]
        unread += [(log, a, b) for a, b, _ in found if (log, a, b) not in read]
        marks = [mark for mark in marked if mark["log"] == log]
        hits = marks_found(marks, found)
        found_marks += [place < hits for place in range(len(marks))]
        if marks:
            print(f"\n{log}: {hits} of {len(marks)} changes marked were found", end="")
    print(
        f"\nall: {sum(found_marks)} of {len(found_marks)} marked found; {sum(right)} of {len(right)} found were right"
    )
    assert not unread, f"read these, and write down what they are: {unread}"
    assert sum(right) >= 0.9 * len(right)
    assert f"{len(found_marks)} marked in six dialogues" in PAGE
    assert f"| {sum(found_marks)} |" in PAGE
    assert f"| {sum(right)} of {len(right)} |" in PAGE


@pytest.mark.parametrize("name", ["state_changes_read_elsewhere", "state_changes_read_unseen"])
def test_what_was_read_of_other_sessions_names_each_change_once(name: str) -> None:
    read = sheet(f"{name}.ndjson")
    right, wrong = sum(row["is_right"] for row in read), Counter(row["wrong"] for row in read if not row["is_right"])
    print(f"\n{right} of {len(read)} found were right; wrong: {dict(wrong)}")
    assert len({(row["log"], row["earlier"], row["later"]) for row in read}) == len(read)
    assert all(row["is_right"] == ("wrong" not in row) for row in read)


def test_what_the_page_says_was_marked_in_other_sessions() -> None:
    marks = sheet("state_changes_marked_unseen.ndjson")
    items = sum(row["is_item"] for row in marks)
    assert f"{len(marks)} marked in three other coding sessions" in PAGE
    assert f"of the {items} that lists tick off / of the {len(marks) - items} that sentences tell" in PAGE
    blind = sheet("state_changes_marked_blind.ndjson")
    is_said = [mark["log"].startswith(("realtalk", "memory bank")) for mark in blind]
    assert f"{len(blind) - sum(is_said)} marked in three more coding sessions" in PAGE
    assert f"{sum(is_said)} in five conversations" in PAGE


def test_twenty_changes_of_a_made_up_log() -> None:
    rows = [
        (f"{number} {when}", 0, START + timedelta(days=number + later), text)
        for number, pair in enumerate((*CHANGES, *TICKED, *ALIKE))
        for (when, later), text in zip((("then", 0), ("now", 90)), pair, strict=True)
    ]
    found = changes_in(rows)
    for _, _, change in found[:20]:
        print(f"\n{change.reason}", end="")
    assert len(found) == len(CHANGES) + len(TICKED)
