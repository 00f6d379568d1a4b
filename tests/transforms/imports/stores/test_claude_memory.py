"""Claude Code's memory files and instructions: which memories a file holds, and what they are called."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from store_rows import SEEN_AT, left_of, rows_of

from slowwave.transforms.imports.adapter import Context, Located, Made
from slowwave.transforms.imports.stores.memory_files import CLAUDE_MEMORY_STORE, front_matter, memories_of, sections
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


def test_instructions_are_one_memory_a_section():
    rows = rows_of(told(file(f"{HOME}/work/shop/CLAUDE.md", INSTRUCTIONS, f"{HOME}/work/shop")))
    assert [(row["memory_id"], row.get("category"), row["content"]) for row in rows] == [
        ("claude-memory:~/work/shop/CLAUDE.md", None, "Be brief."),
        (
            "claude-memory:~/work/shop/CLAUDE.md#tests",
            "Tests",
            "Run the quick ones first.\n\n```sh\n# not a heading\nmake test\n```",
        ),
        ("claude-memory:~/work/shop/CLAUDE.md#slow-ones", "Tests / Slow ones", "At night."),
        ("claude-memory:~/work/shop/CLAUDE.md#tests-2", "Tests", "A second of its name."),
    ]
    assert {(row["memory_type"], row["project"]) for row in rows} == {("project", "shop")}


def test_what_is_for_all_work_of_a_user_counts_in_every_project():
    (row,) = rows_of(told(file(f"{HOME}/.claude/CLAUDE.md", "No emojis.", None)))
    assert (row["memory_id"], row["memory_type"], row["scope"]) == (
        "claude-memory:~/.claude/CLAUDE.md",
        "preference",
        "global",
    )
    assert "project" not in row


def test_the_index_is_no_memory_and_what_else_stands_in_it_is():
    index = "- [Rounding](rounding.md) — prices\n- [Gone](old/gone.md)\n\n## Notes\nThe till is slow.\n"
    made = told(file(f"{FOLDER}/MEMORY.md", index, "shop"))
    assert [(row["memory_id"], row["content"]) for row in rows_of(made)] == [
        ("claude-memory:~-work-shop/MEMORY.md#notes", "The till is slow.")
    ]
    lines = index.partition("\n\n")[0]
    assert left_of(told(file(f"{FOLDER}/MEMORY.md", lines, "shop"))) == {"a file without a memory of its own": 1}


def test_only_the_section_that_changed_is_told_again_and_one_that_is_gone_is_archived():
    seen, path = StoreSnapshot(1), f"{HOME}/work/shop/CLAUDE.md"
    text = "".join(f"# Rule {number}\nSay {number}.\n" for number in range(6))
    told(file(path, text, "shop"), seen=seen)
    edited = text.replace("Say 3.", "Say three.").replace("# Rule 5\nSay 5.\n", "")
    made = told(file(path, edited, "shop", "2026-03-09T00:00:00+00:00"), seen=seen, seen_at=SEEN_AT + timedelta(days=1))
    assert [
        (row["memory_id"].partition("#")[2], row["changed_at"], row.get("content"), row.get("status"))
        for row in rows_of(made)
    ] == [
        ("rule-3", "2026-03-09T00:00:00Z", "Say three.", None),
        ("rule-5", "2026-04-02T02:00:00Z", None, "archived"),
    ]


def test_the_place_of_a_memory_is_the_same_on_every_machine_of_a_user():
    paths = [
        f"/Users{HOME.removeprefix('/home')}/work/shop/CLAUDE.md",
        f"{HOME}/work/shop/CLAUDE.md",
        "~/work/shop/CLAUDE.md",
    ]
    assert {memories_of(path, "Be brief.")[0].memory_id for path in paths} == {"claude-memory:~/work/shop/CLAUDE.md"}


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
