"""Which memories a turn was given, by what the client attached and the agent read."""

from __future__ import annotations

from claude_code_records import Session
from made_rows import interactions

from slowwave.transforms.imports.claude_code import ClaudeCode
from slowwave.transforms.imports.stores.claude_memories import memories_of

CLAUDE = ClaudeCode()
RULES = "# Rules\n\nUse tabs.\n\n# Tests\n\nRun them.\n"
FOLDER = "~/.claude/projects/-work-shop/memory"
NOTE = "---\nname: deploys\nmetadata:\n  type: project\n---\nDeploy on Mondays.\n"


def ids(path: str, text: str) -> list[str]:
    return [memory.memory_id for memory in memories_of(path, text) if not memory.is_split]


def given(session: Session) -> list[tuple[list[str] | None, str | None]]:
    found = interactions(CLAUDE, session.records)
    return [(row.get("memories_used"), row.get("memory_context")) for row in found]


def instructions(session: Session, *files: tuple[str, str]) -> None:
    session.attach("instructions", files=[{"path": path, "type": "Project", "content": text} for path, text in files])


def test_instructions_hold_until_the_next_ones() -> None:
    session = Session()
    session.user("First.")
    instructions(session, ("/srv/shop/CLAUDE.md", RULES))
    session.say("Done.", stop="end_turn")
    session.turn("Second.", "Done.")
    instructions(session, ("/srv/shop/CLAUDE.md", "# Rules\n\nUse spaces.\n"))
    session.turn("Third.", "Done.")
    rules = ids("/srv/shop/CLAUDE.md", RULES)
    assert len(rules) == 2
    (spaces,) = ids("/srv/shop/CLAUDE.md", "# Rules\n\nUse spaces.\n")
    assert spaces not in rules
    assert given(session) == [(rules, "attached"), (rules, "carried"), ([spaces], "attached")]


def test_instructions_before_the_first_prompt_are_its() -> None:
    session = Session()
    instructions(session, ("/srv/shop/CLAUDE.md", RULES), (f"{FOLDER}/MEMORY.md", "# Index\n\nBe brief.\n"))
    session.turn("First.", "Done.")
    ((used, context),) = given(session)
    assert used == [*ids("/srv/shop/CLAUDE.md", RULES), *ids(f"{FOLDER}/MEMORY.md", "# Index\n\nBe brief.\n")]
    assert context == "attached"


def test_what_is_recalled_is_of_its_turn_alone() -> None:
    session = Session()
    session.user("First.")
    nested = {"path": "/srv/shop/web/CLAUDE.md", "type": "Project", "content": RULES, "contentDiffersFromDisk": False}
    session.attach("nested_memory", path="/srv/shop/web/CLAUDE.md", content=nested)
    recalled = [{"path": f"{FOLDER}/deploys.md", "content": NOTE}, {"path": f"{FOLDER}/x.md"}, {"content": NOTE}]
    session.attach("relevant_memories", memories=recalled)
    session.say("Done.", stop="end_turn")
    session.turn("Second.", "Done.")
    used = [*ids("/srv/shop/web/CLAUDE.md", RULES), *ids(f"{FOLDER}/deploys.md", NOTE)]
    assert given(session) == [(used, "attached"), (None, None)]


def test_a_memory_that_the_agent_reads_is_used_in_that_turn() -> None:
    session = Session()
    session.user("When do we deploy?")
    path = "/home/ann/.claude/projects/-work-shop/memory/deploys.md"
    session.call("c-1", "Read", file_path=path)
    session.result("c-1", "     1\u2192...", result={"type": "text", "file": {"filePath": path, "content": NOTE}})
    session.call("c-2", "Read", file_path="/srv/shop/notes.md")
    session.result("c-2", "     1\u2192# Notes\n     2\u2192None.")
    session.call("c-3", "Read", file_path="/home/ann/.claude/projects/-work-shop/memory/gone.md")
    session.result("c-3", "File does not exist.", is_error=True)
    session.say("On Mondays.", stop="end_turn")
    assert given(session) == [(ids(path, NOTE), "read")]


def test_a_memory_read_without_its_own_text_is_told_from_what_was_printed() -> None:
    session = Session()
    session.user("When do we deploy?")
    path = "/home/ann/.claude/projects/-work-shop/memory/MEMORY.md"
    session.call("c-1", "Read", file_path=path)
    printed = "     1\u2192# Deploys\n     2\u2192\n     3\u2192On Mondays.\n\n<system-reminder>x</system-reminder>"
    session.result("c-1", printed)
    session.say("On Mondays.", stop="end_turn")
    assert given(session) == [(ids(path, "# Deploys\n\nOn Mondays.\n"), "read")]


def test_nothing_of_other_attachments_is_kept() -> None:
    session = Session()
    session.user("First.")
    session.attach("session_context", context={"userEmail": "ann@example.org"})
    session.attach("prompt_snapshot", systemPrompt=["You are"], tools=[{"name": "Bash"}])
    session.attach("file", filename="a.py", content={"file": {"content": "print()"}})
    session.say("Done.", stop="end_turn")
    (row,) = interactions(CLAUDE, session.records)
    assert not {"ann@example.org", "You are", "print()"} & set(str(row).split("'"))
    assert "memories_used" not in row
