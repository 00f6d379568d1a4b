"""`slowwave why` on one screen: whatever an id names, and whatever its rows hold, at most 24 lines of 100 columns."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest
from each import each
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from small_home import SmallHome, interaction, memory, outcome

from slowwave.flows.ask.why.layout import Fact, screen_text
from slowwave.flows.ask.why.lookup import Publish
from slowwave.flows.ask.why.why import screen_facts

HOSTILE = "=cmd() \x1b[31mred\x1b[0m [red]markup[/red]\nline two\r\n\x9b2J\u202e '; DROP TABLE runs; -- "
LONG = "x" * 10_000
WIDE = "価格は最小の硬貨の整数です。" * 200
UNSAFE = {"\x1b", "\x9b", "\x00", "\u202e", "\r"}
TEXTS = {"hostile": HOSTILE * 5, "long": LONG, "wide": WIDE, "spaced": f"{LONG} {HOSTILE} {WIDE}"}
OF_KINDS = {
    "memory": "SELECT memory_id FROM memory_health",
    "interaction": "SELECT DISTINCT interaction_id FROM memory_references",
    "strategy": "SELECT DISTINCT strategy_id FROM strategy_variants",
    "error": "SELECT DISTINCT error_id FROM error_templates",
    "family": "SELECT error_family FROM error_templates GROUP BY ALL HAVING count(DISTINCT error_id) > 1",
    "outcome": "SELECT outcome_id FROM counted_outcomes",
    "observation": "SELECT observation_id FROM observations",
    "run": "SELECT run_id FROM runs",
    "item": "SELECT item_id FROM review_queue",
}
TRIED = {"strategy": "read the log first", "task_type": "fix"}


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> SmallHome:
    """m1 in answers that succeeded and failed; memories, interactions and strategies of hostile texts in many cases."""
    made = SmallHome(tmp_path_factory.mktemp("screen") / "home")
    says = memory("m1")["content"]
    made.settings.inbox.mkdir(parents=True)
    refused = interaction("refused", created_at=HOSTILE)
    (made.settings.inbox / "bad.jsonl").write_text(f"no JSON \x1b[31m\n{json.dumps(refused)}\n")
    made.nightly()  # a publish tells of the runs before it
    made.land(
        memory("m1", confidence=0.5, source_ids=["i2", "note"]),
        memory("m1", changed_at="2026-03-09T00:00:00Z", content=None, project=None, status="superseded"),
        memory("live"),
        memory("maybe", status="candidate", content="The till closes at six on Sundays.", source_ids=["i5", "i6"]),
        *(memory(name, **dict.fromkeys(("content", "reason", "changed_by"), text), project=text[:900], agent=text[:900])
          for name, text in TEXTS.items()),
        memory("unsafe\x1b[31m", content=HOSTILE),
        *(interaction(f"i{day}", created_at=f"2026-03-{day:02}T09:00:00Z", memories_used=["m1", "live"], session_id="s",
                      response=says if day < 9 else "Nothing of it.") for day in range(2, 12)),
        interaction("parrots", created_at="2026-03-08T10:00:00Z", prompt=says, response=says),
        *(interaction(f"of {name}", prompt=text, response=text, project=text[:900], agent=text[:900],
                      session_id=text[:900], memories_used=[*TEXTS, "unsafe\x1b[31m", "\x1bnever landed"])
          for name, text in TEXTS.items()),
        *(outcome(f"o{day}", interaction_id=f"i{day}", created_at=f"2026-03-{day:02}T10:00:00Z", success=day > 4,
                  error_message=None if day > 4 else f"timeout after {day} s", **TRIED) for day in range(2, 9)),
        *(outcome(f"{name} {place}", strategy=text, success=False, error_message=text, project=f"p{place}{text[:900]}",
                  agent=text[:900], task_type=text[:900]) for name, text in TEXTS.items() for place in range(6)),
        *(outcome(f"no {module}", success=False, error_message=f"No module named '{module}'", project="libs")
          for module in ("requests", "numpy")),
        outcome("elsewhere", project="libs", agent="dev", **TRIED),
        outcome("skipped", attempted=False, success=False, strategy="never tried"),
    )  # fmt: skip
    made.nightly()
    return made


@pytest.fixture
def published(home: SmallHome) -> Iterator[Publish]:
    serving = home.settings.current.resolve()
    config: Any = {"autoinstall_known_extensions": False, "autoload_known_extensions": False}
    with closing(duckdb.connect(serving, read_only=True, config=config)) as connection:  # as the command opens it
        yield Publish(connection, Path(home.settings.lake), serving.stem)


def is_one_screen(text: str) -> bool:
    lines = text.splitlines()
    return len(lines) <= 24 and max(map(cell_len, lines)) <= 100 and not UNSAFE & set(text)


@each("kind", OF_KINDS)
def test_whatever_an_id_names_is_one_screen(published, kind):
    ids = [row[0] for row in published._rows(OF_KINDS[kind]) if row[0]]
    assert ids
    for id_ in ids:
        text = screen_text(screen_facts(published.look_up_id(f"{kind}:{id_}")))
        assert is_one_screen(text), text
        assert "\nlook next    slowwave dashboard, page " in text, text


def test_a_narrow_terminal_has_narrow_lines_and_no_more_of_them(published, monkeypatch):
    monkeypatch.setattr("slowwave.flows.ask.why.layout.width", lambda: 60)
    for name in ("m1", "spaced", "i3", "of spaced"):
        lines = screen_text(screen_facts(published.look_up_id(name))).splitlines()
        assert len(lines) <= 24
        assert max(map(cell_len, lines)) <= 60


def test_a_memory_on_one_screen(home):
    lines = home.ask("why", "m1").stdout.splitlines()
    assert lines[0] == "memory       m1: superseded knowledge of project shop"
    assert lines[1].strip() == "written 2026-03-01, changed 1 time, last 2026-03-09"
    assert lines[2] == f"text         {memory('m1')['content']}"
    assert lines[3].startswith("verdict      inactive: ")
    start = lines.index("evidence     the strongest 3 of 11 interactions:")
    assert [line.split()[:2] for line in lines[start + 1 : start + 4]] == [
        ["2026-03-08", "i8"],
        ["2026-03-07", "i7"],
        ["2026-03-06", "i6"],
    ]
    assert "the attempt succeeded (reported); quoted; " in lines[start + 1]
    said = "\n".join(lines)
    assert "injected 10 (3 after a correction), quoted 8, " in said
    assert "quoted or used in 4 successful attempts and 3 failed ones" in said
    assert "90 % credible interval 0." in said
    assert lines[-3:] == [
        "look next    slowwave dashboard, page memory?memory_id=m1",
        "             slowwave why m1 --all",
        "             slowwave why i8",
    ]


def test_a_memory_that_needs_review_says_why_and_how_to_decide(home):
    lines = home.ask("why", "maybe").stdout.splitlines()
    (item,) = json.loads(home.ask("why", "maybe", "--format", "json").stdout)["waits"]
    (said,) = [line for line in lines if line.startswith("needs review ")]
    assert said.startswith("needs review candidate: ")
    assert lines[-1] == f"             slowwave review show {item['item_id']}"


def test_an_interaction_on_one_screen(home):
    lines = home.ask("why", "i3").stdout.splitlines()
    assert lines[2] == "prompt       How are prices kept?"
    assert lines[3] == f"answer       {memory('m1')['content']}"
    assert lines[4] == "ended        failed, reported, which decides: o3"
    assert lines[5:7] == ["memories     injected 2: live, m1", "             quoted 1: m1"]
    assert "evidence     counts before → with this interaction:" in lines
    assert any(line.startswith("             m1, quoted") and "quoted 1 → 2" in line for line in lines)


def test_a_strategy_begins_with_the_case_that_was_asked_for(home):
    asked = home.ask("why", TRIED["strategy"]).stdout
    assert "\ncase         shop, (no agent), task type fix\n" in asked
    assert "7 attempts in 1 session, 4 successful" in asked
    assert "\nother cases  libs, dev, task type fix: 1 of 1 attempt succeeded" in asked
    for given_case in (["--project", "libs"], ["--agent", "dev"], ["--agent", "dev", "--task-type", "fix"]):
        shown = home.ask("why", TRIED["strategy"], *given_case).stdout
        assert "\ncase         libs, dev, task type fix\n" in shown
        every = home.ask("why", TRIED["strategy"], "--all", *given_case).stdout
        assert every.index("libs, dev, task type fix:") < every.index("shop, (no agent), task type fix:")
        uses = json.loads(home.ask("why", TRIED["strategy"], "--format", "json", *given_case).stdout)["uses"]
        assert [use["project"] for use in uses] == ["libs", "shop"]


def test_a_case_that_there_is_not_is_refused(home):
    said = home.ask("why", TRIED["strategy"], "--project", "nowhere")
    assert (said.returncode, said.stdout) == (1, "")
    assert "was not tried with project 'nowhere'" in said.stderr
    said = home.ask("why", "m1", "--project", "shop")
    assert (said.returncode, said.stdout) == (1, "")
    assert "choose where a strategy was tried, and this is of a memory" in said.stderr


def test_a_strategy_that_nothing_is_learned_from(home):
    assert "case         no attempt with it is learned from" in home.ask("why", "never tried").stdout


def test_a_run_on_one_screen_and_whole(home):
    landed = home.ask("sql", "SELECT run_id FROM runs WHERE quarantined > 0", "--format", "csv").stdout.split()[1]
    screen, every = home.ask("why", landed).stdout, home.ask("why", landed, "--all").stdout
    assert screen.startswith(f"run          {landed}: nightly, ")
    assert "2 quarantined; first: " in screen
    assert "refused 2: rows that still are in quarantine" in every
    assert not UNSAFE & set(every)


def test_all_is_what_a_limit_prints_too(home):
    for name in ("m1", "i3", TRIED["strategy"]):
        every = home.ask("why", name, "--all").stdout
        assert every == home.ask("why", name, "--limit", "5").stdout
        assert every != home.ask("why", name).stdout
        assert len(every.splitlines()) > 24


def test_commands_of_the_screen_can_be_run(home):
    for name in ("m1", "i3", TRIED["strategy"], "o3"):
        lines = home.ask("why", name).stdout.splitlines()
        commands = [line.split()[-len(line.split()) :] for line in lines if "slowwave why " in line]
        assert commands
        for command in commands:
            words = command[command.index("why") :]
            assert home.ask(*words).returncode == 0, words


def test_an_unknown_id_is_said_to_be_one(home):
    said = home.ask("why", f"none{HOSTILE}")
    assert (said.returncode, said.stdout) == (1, "")
    assert said.stderr.startswith("slowwave: no memory, observation, interaction, strategy, error, outcome or run ")
    assert not UNSAFE & set(said.stderr)


@given(st.lists(st.text(max_size=400), max_size=20))
def test_any_facts_of_twenty_texts_are_one_screen(texts):
    text = screen_text([Fact("figures", texts), Fact("look next", ["slowwave status"])])
    assert is_one_screen(text)
    assert text.endswith(" slowwave status\n")
