"""Claude Code's memory files and instructions: which memories a file holds, and what they are called."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from store_rows import SEEN_AT, left_of, rows_of

from slowwave.transforms.imports.adapter import Context, Located, Made
from slowwave.transforms.imports.stores import claude_memories
from slowwave.transforms.imports.stores.claude_memories import CLAUDE_MEMORY_STORE, memories_of
from slowwave.transforms.imports.stores.memory_files import front_matter, sections
from slowwave.transforms.imports.stores.store_state import ReadBefore, StoreSnapshot

HOME = "/home" + "/ann"
FOLDER = f"{HOME}/.claude/projects/-home-ann-work-shop/memory"
MEMORY = """---
name: rounding
description: "how prices are rounded: down"
metadata:
  type: feedback
  tags: [till, prices]
---

Round prices down, **always**.
"""
INSTRUCTIONS = """Be brief.

# Tests
Run the quick ones first.

```sh
# not a heading
make test
```

## Slow ones
At night.

# Empty

# Tests
A second of its name.
"""


def file(path: str, text: str, directory: str | None, modified_at: str = "2026-03-01T12:00:00+00:00") -> dict[str, Any]:
    return {"path": path, "text": text, "modified_at": modified_at, "directory": directory}


def told(*files: dict[str, Any], seen: StoreSnapshot | None = None, seen_at: datetime = SEEN_AT) -> list[Made]:
    before = ReadBefore("one", StoreSnapshot(CLAUDE_MEMORY_STORE.version) if seen is None else seen, seen_at)
    return list(
        CLAUDE_MEMORY_STORE.make_rows([Located(n, one) for n, one in enumerate(files, 1)], Context(before=before))
    )


def test_a_memory_file_says_until_when_it_counts():
    path, until = f"{FOLDER}/rounding.md", MEMORY.replace("name:", "valid_until: 2026-05-10\nname:")
    (row,) = rows_of(told(file(path, until, None)))
    assert row["expires_at"] == "2026-05-10"
    assert "valid_until" not in row["claude-memory"]
    seen = StoreSnapshot(CLAUDE_MEMORY_STORE.version)
    told(file(path, until, None), seen=seen)
    (change,) = rows_of(told(file(path, MEMORY, None), seen=seen, seen_at=SEEN_AT + timedelta(days=1)))
    assert change["expires_at"] == "", "what the file no longer says is cleared"


def test_a_memory_file_is_one_memory():
    (row,) = rows_of(told(file(f"{FOLDER}/rounding.md", MEMORY, f"{HOME}/work/shop")))
    assert row == {
        "memory_id": "claude-memory:~-work-shop/rounding",
        "changed_at": "2026-03-01T12:00:00Z",
        "recorded_at": "2026-03-01T12:00:00Z",
        "status": "active",
        "memory_type": "preference",
        "project": "shop",
        "content": "Round prices down, **always**.",
        "claude-memory": {
            "name": "rounding",
            "description": "how prices are rounded: down",
            "metadata": {"type": "feedback", "tags": ["till", "prices"]},
        },
    }


def test_instructions_are_one_memory_a_rule_below_its_section():
    rows = rows_of(told(file(f"{HOME}/work/shop/CLAUDE.md", INSTRUCTIONS, f"{HOME}/work/shop")))
    place, code = "claude-memory:~/work/shop/CLAUDE.md", "```sh\n# not a heading\nmake test\n```"
    sections_of = [row for row in rows if "parent_id" not in row]
    assert [(row["memory_id"], row.get("category"), row["content"]) for row in sections_of] == [
        (place, None, "Be brief."),
        (f"{place}#tests", "Tests", f"Run the quick ones first.\n\n{code}"),
        (f"{place}#slow-ones", "Tests / Slow ones", "At night."),
        (f"{place}#tests-2", "Tests", "A second of its name."),
    ]
    rules = [row for row in rows if "parent_id" in row]
    assert [(row["parent_id"], row.get("category"), row["content"]) for row in rules] == [
        (row["memory_id"], row.get("category"), row["content"]) for row in sections_of
    ]
    assert all(row["memory_id"].startswith(f"{place}#") for row in rules)
    assert {(row["memory_type"], row["project"]) for row in rows} == {("project", "shop")}
    assert {row["status"] for row in rules} == {"active"}
    assert {row["status"] for row in sections_of} == {"archived"}, "what its rules say would count twice"


def test_what_is_for_all_work_of_a_user_counts_in_every_project():
    section, rule = rows_of(told(file(f"{HOME}/.claude/CLAUDE.md", "No emojis.", None)))
    assert section["memory_id"] == rule["parent_id"] == "claude-memory:~/.claude/CLAUDE.md"
    for row in (section, rule):
        assert (row["memory_type"], row["scope"]) == ("preference", "global")
        assert "project" not in row


def test_the_index_is_no_memory_and_what_else_stands_in_it_is():
    index = "- [Rounding](rounding.md) — prices\n- [Gone](old/gone.md)\n\n## Notes\nThe till is slow.\n"
    made = told(file(f"{FOLDER}/MEMORY.md", index, "shop"))
    assert [(row.get("parent_id"), row["content"]) for row in rows_of(made)] == [
        (None, "The till is slow."),
        ("claude-memory:~-work-shop/MEMORY.md#notes", "The till is slow."),
    ]
    lines = index.partition("\n\n")[0]
    assert left_of(told(file(f"{FOLDER}/MEMORY.md", lines, "shop"))) == {"a file without a memory of its own": 1}


NEXT = "2026-03-09T00:00:00+00:00"
AT = {"changed_at": "2026-03-09T00:00:00Z", "recorded_at": "2026-03-09T00:00:00Z"}


def again(seen: StoreSnapshot, text: str, **known: str) -> list[dict[str, Any]]:
    """The rows of a file that is read a day later, beside the texts known of ids."""
    before = ReadBefore(
        "one", seen, SEEN_AT + timedelta(days=1), known=lambda ids: {one: {"content": known[one]} for one in ids}
    )
    one = Located(1, file(f"{HOME}/work/shop/CLAUDE.md", text, "shop", NEXT))
    return rows_of(list(CLAUDE_MEMORY_STORE.make_rows([one], Context(before=before))))


def first(text: str) -> tuple[StoreSnapshot, dict[str, str]]:
    """What was seen of a file, and the ids of its rules by their text."""
    seen = StoreSnapshot(CLAUDE_MEMORY_STORE.version)
    rows = rows_of(told(file(f"{HOME}/work/shop/CLAUDE.md", text, "shop"), seen=seen))
    return seen, {row["content"]: row["memory_id"] for row in rows if "parent_id" in row}


def test_ids_survive_edits_of_their_neighbours():
    text = "# Style\n- Use tabs.\n- No emojis.\n- Be brief.\n"
    seen, ids = first(text)
    edited = "# Style\nRead this first.\n\n- **Be brief**\n- use tabs\n1. Say please.\n- No emojis.\n"
    rows = [
        row for row in again(seen, edited, **{one: text for text, one in ids.items()}) if "#style/" in row["memory_id"]
    ]
    new = {row["content"] for row in rows if row["memory_id"] not in ids.values()}
    assert new == {"Read this first.", "Say please."}, "case, emphasis and punctuation make no other rule"
    same = {row["memory_id"]: row for row in rows if row["memory_id"] in ids.values()}
    assert {row["content"] for row in same.values()} == {"**Be brief**", "use tabs"}
    assert all("status" not in row for row in same.values())


def test_a_rule_worded_anew_is_superseded_by_what_it_became():
    seen, ids = first("# Style\n- Use tabs in Makefiles.\n- No emojis.\n")
    was = ids["Use tabs in Makefiles."]
    rows = again(seen, "# Style\n- Use tabs in all Makefiles.\n- No emojis.\n", **{was: "Use tabs in Makefiles."})
    (new,) = (row for row in rows if row.get("content") == "Use tabs in all Makefiles.")
    (old,) = (row for row in rows if row["memory_id"] == was)
    assert old == {
        "memory_id": was, **AT, "status": "superseded", "superseded_by": new["memory_id"],
        "reason": "it was worded anew",
    }  # fmt: skip
    back = again(
        seen, "# Style\n- Use tabs in Makefiles.\n- No emojis.\n", **{new["memory_id"]: "Use tabs in all Makefiles."}
    )
    (old,) = (row for row in back if row["memory_id"] == was)
    assert (old["status"], old["superseded_by"]) == ("active", ""), "it is back"


@pytest.mark.parametrize(
    ("edited", "reason"),
    [
        ("# Style\n- Deploy on Mondays.\n- No emojis.\n", "it no longer stands in its section"),
        ("# Style\n- No emojis.\n", "it no longer stands in its section"),
    ],
)
def test_a_rule_that_is_gone_is_archived_whatever_share_of_a_file_it_was(edited: str, reason: str):
    seen, ids = first("# Style\n- Use tabs.\n- No emojis.\n")
    (old,) = (
        row for row in again(seen, edited, **{ids["Use tabs."]: "Use tabs."}) if row["memory_id"] == ids["Use tabs."]
    )
    assert (old["status"], old["reason"]) == ("archived", reason)


def test_a_renamed_section_takes_its_rules_along():
    seen, ids = first("# Style\n- Use tabs.\n- No emojis.\n")
    rows = {
        row["memory_id"]: row
        for row in again(seen, "# Code\n- Use tabs.\n- No emojis.\n", **dict.fromkeys(ids.values(), ""))
    }
    for text, was in ids.items():
        heir = rows[rows[was]["superseded_by"]]
        assert (rows[was]["status"], heir["content"]) == ("superseded", text)


def test_when_a_file_loses_all_its_sections_nothing_is_archived_without_a_word():
    seen, _ = first("".join(f"# Rule {number}\nSay {number}.\n" for number in range(6)))
    rows = again(seen, "# Rule 0\nSay 0.\n")
    assert rows == []


def test_rules_of_a_section_that_was_a_memory_begin_when_it_ends(monkeypatch: pytest.MonkeyPatch):
    one, seen = file(f"{HOME}/work/shop/CLAUDE.md", "# Style\n- Use tabs.\n- No emojis.\n", "shop"), StoreSnapshot(1)
    with monkeypatch.context() as before:
        before.setattr(claude_memories, "split_rules", lambda _text: [])
        (whole,) = rows_of(told(one, seen=seen))
    seen.version = 1
    parent, *rules = rows_of(told(one, seen=seen, seen_at=SEEN_AT + timedelta(days=1)))
    assert (parent["memory_id"], parent["status"]) == (whole["memory_id"], "archived")
    assert parent["changed_at"] == "2026-04-02T02:00:00Z", "what it was until now stays"
    assert [(row["content"], row["status"], row["changed_at"]) for row in rules] == [
        ("Use tabs.", "active", parent["changed_at"]),
        ("No emojis.", "active", parent["changed_at"]),
    ]
    assert rows_of(told(one, seen=seen, seen_at=SEEN_AT + timedelta(days=2))) == []


def test_the_place_of_a_memory_is_the_same_on_every_machine_of_a_user():
    paths = [
        f"/Users{HOME.removeprefix('/home')}/work/shop/CLAUDE.md",
        f"{HOME}/work/shop/CLAUDE.md",
        "~/work/shop/CLAUDE.md",
    ]
    texts = [f"Look at {path.removesuffix('CLAUDE.md')}notes." for path in paths]
    found = {tuple(one.memory_id for one in memories_of(path, text)) for path, text in zip(paths, texts, strict=True)}
    ((section, rule),) = found
    assert section == "claude-memory:~/work/shop/CLAUDE.md"
    assert rule.startswith(f"{section}#/")


@pytest.mark.parametrize(
    ("text", "stated", "body"),
    [
        ("---\nname: a\n---\nbody", {"name": "a"}, "body"),
        ("---\r\nname: a\r\n---\r\nbody", {"name": "a"}, "body"),
        ("---\nname: 'it''s'\nempty:\nlist:\n- a\n- b\n---\n", {"name": "it's", "empty": "", "list": ["a", "b"]}, ""),
        ("---\ntext: >-\n  one\n  two\nkept: |\n  a\n  b\n---\nx", {"text": "one two", "kept": "a\nb"}, "x"),
        ("---\npaths: src/**/*.ts # of the shop\n---\nx", {"paths": "src/**/*.ts"}, "x"),
        ("---\nnever ended", {}, "---\nnever ended"),
        ("no front", {}, "no front"),
    ],
)
def test_what_stands_before_a_text(text: str, stated: dict[str, Any], body: str):
    assert front_matter(text) == (stated, body)


pieces = st.sampled_from(
    [
        "# A\n",
        "## A\n",
        "# A-2\n",
        "```\n",
        "~~~\n",
        "text\n",
        "\n",
        "---\n",
        "name: x\n",
        "  - y\n",
        "#\n",
        "\ufeff",
        "#" * 7,
    ]
)


@given(st.lists(pieces, max_size=12).map("".join))
def test_sections_have_names_of_their_own_and_lose_no_text(text: str):
    found = sections(text)
    assert len({one.slug for one in found}) == len(found)
    assert sum(one.text.count("text") for one in found) == text.count("text")
    stated, body = front_matter(text)
    assert body == text or stated is not None
    ids = [memory.memory_id for memory in memories_of("~/shop/CLAUDE.md", text)]
    assert len(set(ids)) == len(ids)
