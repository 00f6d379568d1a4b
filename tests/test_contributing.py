"""The diffs in CONTRIBUTING.md are what a change takes: each is made in a copy, and does what it says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from later_release import command, declare_anew, later_release, night, run_release
from released_homes import last_as_of, released_home
from small_home import SmallHome

pytestmark = pytest.mark.slow  # nights in processes of their own

PAGE = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text()
MOST_FILES = {
    "Add a column": 5,
    "Add a table": 4,
    "Add a method": 3,
    "Retire a method": 3,
    "Add a param": 3,
    "Add a landed field": 4,
    "Add a field of a memory": 5,
    "Add an importer": 2,
}

# The facts that the dashboard's page of a memory shows.
PAGE_OF_A_MEMORY = """
import json, re, sys
from streamlit.testing.v1 import AppTest

PAGE = '''
from slowwave.dashboards.app.pages.memory import memory_page
from slowwave.dashboards.cookbook.published import Published
from slowwave.flows.kernel.settings import settings_from_environment
memory_page(Published(settings_from_environment().current.resolve(strict=True)))
'''
app = AppTest.from_string(PAGE, default_timeout=600)
app.query_params["memory_id"] = sys.argv[1]
app.run()
assert not app.exception, app.exception
html = "".join(element.proto.body for element in app.get("html"))
print(json.dumps(dict(re.findall(r"<dt>(.*?)</dt>\\s*<dd><bdi>(.*?)</bdi>", html))))
"""

FIELDS = enumerate(({"channel": "chat"}, {"channel": ["no", "text"]}, {}))


def edits(change: str) -> Iterator[tuple[str, str, str]]:
    """Of the diff below such a heading each piece: the file, the text that goes, the text that comes."""
    section = re.split(rf"^## {change}\n", PAGE, flags=re.MULTILINE)[1].split("\n## ")[0]
    (diff,) = re.findall(r"```diff\n(.*?)```", section, flags=re.DOTALL)
    for of_file in re.split(r"^--- (?=\w+/)", diff, flags=re.MULTILINE)[1:]:
        name, _, pieces = of_file.partition("\n")
        for piece in re.split(r"^@@\n", pieces, flags=re.MULTILINE):
            lines = piece.splitlines(keepends=True)
            yield (
                name,
                "".join(line[1:] for line in lines if line[0] in " -"),
                "".join(line[1:] for line in lines if line[0] in " +"),
            )


@pytest.fixture
def home(tmp_path: Path) -> SmallHome:
    """The home of an earlier release, which this one has brought up to date."""
    made = released_home("0.1.0", tmp_path)
    made.nightly(last_as_of(made))
    return made


def changed(change: str, folder: Path) -> Path:
    """The copy with that change."""
    return later_release(folder / "later", *edits(change))


def answers(release: Path, home: SmallHome, *question: str) -> list[dict[str, Any]]:
    done = command(release, home.folder, "sql", *question, "--format", "json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def rebuilt(release: Path, home: SmallHome) -> dict[str, str]:
    """The days that a night of the copy builds because of the change, and why."""
    return night(release, home.folder, last_as_of(home).isoformat())[1]


@pytest.mark.parametrize("change", MOST_FILES)
def test_a_change_takes_few_files(change: str) -> None:
    assert 1 < len({name for name, _, _ in edits(change)}) <= MOST_FILES[change]


def test_a_column(home: SmallHome, tmp_path: Path) -> None:
    release = changed("Add a column", tmp_path)
    assert rebuilt(release, home) == {}
    told = answers(
        release, home, "SELECT memory_id, referenced_days_count AS n FROM memory_health WHERE n > 0 ORDER BY 1"
    )
    counted = (
        "SELECT memory_id, count(DISTINCT occurred_at::DATE) AS n FROM memory_references WHERE is_echoed OR is_used"
        " GROUP BY 1 ORDER BY 1"
    )
    assert told == answers(release, home, counted) != []
    (shown,) = answers(release, home, "memory", "--param", f"memory_id={told[0]['memory_id']}")
    assert shown["referenced_days_count"] == told[0]["n"]


def test_a_table(home: SmallHome, tmp_path: Path) -> None:
    release = changed("Add a table", tmp_path)
    log = "SELECT created_at::DATE AS happened_on, agent, count(*) AS interactions_count FROM interactions GROUP BY ALL"
    assert rebuilt(release, home) == {}
    assert answers(release, home, "agent_days") == answers(release, home, f"{log} ORDER BY ALL") != []
    home.land({"prompt": "one more", "created_at": "2026-03-03T00:00:00Z", "agent": "late"})
    night(release, home.folder, last_as_of(home).isoformat())
    assert answers(release, home, "agent_days") == answers(release, home, f"{log} ORDER BY ALL")


def test_a_method(home: SmallHome, tmp_path: Path) -> None:
    release = changed("Add a method", tmp_path)
    listed = json.loads(command(release, home.folder, "methods", "--format", "json").stdout)
    assert [(row["method"], row["in_use"]) for row in listed if row["method"].startswith("echo/")] == [
        ("echo/1", True),
        ("echo/2", False),
    ]
    compared = command(release, home.folder, "compare", "echo/1", "echo/2", "--format", "json")
    assert compared.returncode == 0, compared.stderr
    assert rebuilt(release, home) == {}


def test_a_retired_method(home: SmallHome, tmp_path: Path) -> None:
    release = changed("Retire a method", tmp_path)
    rows = json.loads(command(release, home.folder, "methods", "--format", "json").stdout)
    listed = {row["method"]: row for row in rows}
    assert (listed["eligible/3"]["retired"], listed["eligible/2"]["in_use"]) == ("", False)
    assert listed["eligible/2"]["retired"].startswith("After release 0.2.0, eligible/3 replaced it. ")
    assert rebuilt(release, home) == {}
    params = home.folder / "params.toml"
    params.write_text('[evidence]\neligible_method = "eligible/2"\n')
    done = command(release, home.folder, "nightly")
    assert done.returncode == 2
    assert "eligible/2 was retired after release 0.2.0: eligible/3 replaced it" in done.stderr
    assert answers(release, home, "SELECT count(*) > 0 AS n FROM memory_health") == [{"n": True}]


def test_a_param(home: SmallHome, tmp_path: Path) -> None:
    release = changed("Add a param", tmp_path)
    waiting = "SELECT item_id, interactions_count AS n, len(memory_ids) AS memories FROM review_queue ORDER BY 1"
    home.nightly(last_as_of(home))
    before = answers(release, home, waiting)
    assert rebuilt(release, home) == {}
    assert answers(release, home, waiting) == before
    params = home.folder / "params.toml"
    params.write_text("[review_queue]\nmin_interactions = 0\n")
    done = command(release, home.folder, "nightly")
    assert (done.returncode, "min_interactions" in done.stderr) == (2, True)
    params.write_text("[review_queue]\nmin_interactions = 4\n")
    assert rebuilt(release, home) == {}
    kept = [row for row in before if row["memories"] or row["n"] >= 4]
    assert answers(release, home, waiting) == kept != before


def test_a_landed_field(home: SmallHome, tmp_path: Path) -> None:
    release = changed("Add a landed field", tmp_path)
    assert rebuilt(release, home) == {}
    memory_id = answers(release, home, "SELECT memory_id FROM memory_references ORDER BY 1 LIMIT 1")[0]["memory_id"]
    log = tmp_path / "log.jsonl"
    asked = {"prompt": "Which?", "created_at": "2026-03-02T00:00:00Z", "memories_used": [memory_id]}
    log.write_text("".join(f"{json.dumps({**asked, 'interaction_id': f'asked-{n}', **more})}\n" for n, more in FIELDS))
    done = command(release, home.folder, "land", str(log))
    assert done.returncode == 0, done.stderr
    assert set(rebuilt(release, home)) == {"2026-03-02"}
    query = "SELECT channel FROM memory_references WHERE interaction_id LIKE 'asked-%' ORDER BY interaction_id"
    assert [row["channel"] for row in answers(release, home, query)] == ["chat", None, None]
    shown = answers(release, home, "landed_interactions", "--param", "since=2026-03-02", "--param", "limit=1000")
    assert {row["interaction_id"]: row["channel"] for row in shown if row["channel"]} == {"asked-0": "chat"}
    (kept,) = answers(release, home, "SELECT extra FROM interactions WHERE interaction_id = 'asked-1'")
    assert json.loads(kept["extra"]) == {"channel": ["no", "text"]}


def test_a_field_of_a_memory(home: SmallHome, tmp_path: Path) -> None:
    release = changed("Add a field of a memory", tmp_path)
    declare_anew(release)
    log = tmp_path / "log.jsonl"
    stated = [{"content": "Deploys run from main.", "status": "active", "language": "de"}, {"importance": 0.5}]
    days = [f"2026-03-0{day}T00:00:00Z" for day in (2, 3)]
    rows = [{"memory_id": "m-new", "changed_at": day, **of} for day, of in zip(days, stated, strict=True)]
    log.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    for arguments in (["land", str(log)], ["memory", "edit", "m-new", "--language", "fr", "--yes"], ["nightly"]):
        done = command(release, home.folder, *arguments)
        assert done.returncode == 0, done.stderr
    (shown,) = answers(release, home, "memory", "--param", "memory_id=m-new")
    assert (shown["language"], shown["importance"]) == ("fr", 0.5)
    for arguments in (["why", "m-new", "--format", "json"], ["memory", "show", "m-new", "--format", "json"]):
        told = json.loads(command(release, home.folder, *arguments).stdout)
        assert (told.get("memory") or told["state"])["language"] == "fr"
        assert [change["changed"].get("language") for change in told["changes"]] == [["de", "fr"], None, [None, "de"]]
    page = run_release(release, home.folder, ["-c", PAGE_OF_A_MEMORY, "m-new"])
    assert json.loads(page.stdout)["Language"] == "fr", page.stderr
    done = command(release, home.folder, "memory", "edit", "m-new", "--clear", "language", "--yes")
    assert done.returncode == 0, done.stderr
    told = json.loads(command(release, home.folder, "memory", "show", "m-new", "--format", "json").stdout)
    assert told["state"]["language"] is None
    assert "language" in command(release, home.folder, "schema", "--views").stdout


def test_an_importer(home: SmallHome, tmp_path: Path) -> None:
    release = changed("Add an importer", tmp_path)
    turns = [
        {"scribe": "3.1", "note": "begun"},
        {"turn": "t-1", "at": "2026-03-03T09:00:00Z", "asked": "Test it.", "answered": "It passes.",
         "folder": "/srv/shop", "ran": {"pytest -q": "3 passed in 0.12s"}},
        {"turn": "t-2", "at": "soon", "asked": "And now?"},
    ]  # fmt: skip
    log = tmp_path / "log.jsonl"
    log.write_text("".join(f"{json.dumps(turn)}\n" for turn in turns))
    for accepted in (2, 0):
        done = command(release, home.folder, "import", "scribe", str(log), "--format", "json")
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        assert told["landing"]["totals"]["accepted"] == accepted
        (home.folder / "lake" / "imports" / "scribe.json").unlink()
    assert told["import"]["producers"] == {"Scribe 3.1": 1}
    assert told["import"]["left_out"]["a record of Scribe's own"]["count"] == 1
    query = "FROM interactions_log i JOIN outcomes_log o USING (interaction_id) WHERE interaction_id = 'scribe:t-1'"
    assert answers(release, home, f"SELECT i.project, prompt, response, basis_method {query}") == [
        {"project": "shop", "prompt": "Test it.", "response": "It passes.", "basis_method": "transcript_tests/1"}
    ]
