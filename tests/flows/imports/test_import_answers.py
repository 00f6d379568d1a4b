"""What an import says that its rows can answer is what the night after says of them."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import orjson
from claude_code_records import Session
from imports_run import aged
from small_home import SmallHome, memory

AS_OF = datetime(2026, 6, 1)  # noqa: DTZ001 - times are naive and hold UTC everywhere
LEARNS = "[attempts]\nlearn_from_inferred = true\n"


def transcript(folder: Path, name: str = "s-1") -> Path:
    """Two turns, one of which ran the tests."""
    session = Session(name)
    session.user("Mend the prices")
    session.call("c-1", command="pytest -q")
    session.result("c-1", "...                                      [100%]\n3 passed in 0.05s")
    session.say("Prices are mended.", stop="end_turn")
    session.over()
    session.turn("Thanks", "You are welcome.")
    folder.mkdir(parents=True)
    path = folder / f"{name}.jsonl"
    path.write_bytes(b"".join(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE) for record in session.records))
    return aged(path)


def said(home: SmallHome, *arguments: str) -> str:
    done = home.ask(*arguments)
    assert done.returncode == 0, done.stderr
    return " ".join(done.stdout.split())


def published(home: SmallHome) -> dict[str, str]:
    home.nightly(AS_OF)
    rows = orjson.loads(home.ask("sql", "answerable_questions", "--format", "json").stdout)
    return {row["question"]: " ".join([row["asked"], row["answer"]]) for row in rows}


def test_transcripts_are_told_what_they_lack_as_the_night_tells_it(tmp_path: Path) -> None:
    home, path = SmallHome(tmp_path / "home"), transcript(tmp_path / "projects")
    told = said(home, "import", "claude-code", str(path))
    answers = published(home)
    for question in ("given", "works", "help"):
        assert answers[question] in told
    assert "nobody reported an attempt; how 1 attempt ended was inferred, such as from test runs" in told
    assert "Or let what was inferred be learned from, where nobody reported: `learn_from_inferred = true`" in told
    assert "before the next `slowwave nightly`, which looks for memories in 2 interactions." in told


def test_a_home_that_learns_from_what_was_inferred_is_told_so(tmp_path: Path) -> None:
    home, path = SmallHome(tmp_path / "home"), transcript(tmp_path / "projects")
    home.folder.mkdir()
    home.settings.params_file.write_text(LEARNS)
    told = said(home, "import", "claude-code", str(path))
    answers = published(home)
    for question in ("given", "works", "help"):
        assert answers[question] in told
    assert "1 attempt landed without saying what was tried (1 of 1 attempt inferred, not reported)" in told
    assert "2 interactions landed, 1 with a known end, but without naming a memory that was injected" in told


def test_nothing_is_said_again_of_what_had_landed_nor_of_a_rehearsal(tmp_path: Path) -> None:
    home, path = SmallHome(tmp_path / "home"), transcript(tmp_path / "projects")
    assert "Do the memories help?" not in said(home, "import", "claude-code", str(path), "--dry-run")
    assert "Do the memories help?" in said(home, "import", "claude-code", str(path))
    assert "Do the memories help?" not in said(home, "import", "claude-code", str(path))


def test_memories_alone_are_asked_nothing(tmp_path: Path) -> None:
    rules = tmp_path / "shop" / "CLAUDE.md"
    rules.parent.mkdir()
    rules.write_text(f"# Prices\n\n{memory('m1')['content']}\n")
    told = said(SmallHome(tmp_path / "home"), "import", "claude-memory", str(rules.parent))
    assert "2 memories" in told, "a section and its rule"
    assert "Do the memories help?" not in told


def test_after_transcripts_of_claude_code_its_memories_are_to_be_imported_once(tmp_path: Path) -> None:
    home, path = SmallHome(tmp_path / "home"), transcript(tmp_path / "projects")
    rules = tmp_path / "shop" / "CLAUDE.md"
    rules.parent.mkdir()
    rules.write_text("Prices are integers.\n")
    memories = "import claude-memory ~/.claude"
    assert memories in said(home, "import", "claude-code", str(path))
    assert memories not in said(home, "import", "claude-memory", str(rules.parent))
    after = said(home, "import", "claude-code", str(transcript(tmp_path / "later", "s-2")))
    assert ("2 interactions" in after, memories in after) == (True, False)
