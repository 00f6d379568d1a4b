"""What a person sees of fields nobody knows, and the ways to land them: options, declared mappings, as they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from small_home import SmallHome

FOREIGN = [
    {"id": f"a{n}", "ts": 1772900000 + n, "question": f"Where is port {n}?", "completion": "8443.",
     "retrieved": ["m1"], "ok": n % 2, "tool": "grep"}
    for n in range(4)
]  # fmt: skip
MAPS = (
    "--map", "prompt=question", "--map", "response=completion", "--map", "created_at=ts", "--map",
    "memories_used=retrieved", "--map", "success=ok", "--map", "interaction_id=id",
)  # fmt: skip
APP = """version = 2
match = "app-*.jsonl"

[fields]
prompt = "question"
response = "completion"
created_at = "ts"
memories_used = "retrieved"
success = "ok"
interaction_id = "id"
project = { constant = "shop" }
"""


@pytest.fixture
def home(tmp_path: Path) -> SmallHome:
    made = SmallHome(tmp_path / "home")
    (made.folder / "inbox").mkdir(parents=True)
    return made


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def log(home: SmallHome, rows: list[dict[str, Any]] = FOREIGN, name: str = "app.jsonl") -> str:
    path = home.folder.parent / name
    path.write_text(lines(rows))
    return str(path)


def declared(home: SmallHome, text: str = APP, name: str = "app") -> None:
    (home.folder / "mappings").mkdir(exist_ok=True)
    (home.folder / "mappings" / f"{name}.toml").write_text(text)


def dropped(home: SmallHome, name: str, rows: list[dict[str, Any]] = FOREIGN) -> Path:
    path = home.folder / "inbox" / name
    path.write_text(lines(rows))
    return path


def landed(home: SmallHome) -> list[dict[str, Any]]:
    query = "SELECT interaction_id, project, response, memories_used, extra FROM interactions ORDER BY 1"
    return json.loads(home.ask("sql", query, "--format", "json").stdout)


def totals(done: Any) -> dict[str, int]:
    return json.loads(done.stdout)["totals"]


def test_land_names_each_unknown_field_and_the_command_lands_it(home):
    done = home.ask("land", log(home))
    assert done.returncode == 1
    said = done.stdout
    for name, taken in (("completion", "--map response=completion"), ("ts", "--map created_at=ts"), ("tool", "extra")):
        (line,) = [line for line in said.splitlines() if line.split()[:1] == [name]]
        assert line.split()[1] == "4"
        assert taken in line
    (command,) = [line for line in said.splitlines() if "land --retry-quarantine" in line and line.startswith("next")]
    options = command.split("--retry-quarantine ")[1].split()
    done = home.ask("land", "--retry-quarantine", *options)
    assert (done.returncode, "4 accepted" in done.stdout) == (0, True)
    rows = landed(home)
    assert [row["interaction_id"] for row in rows] == ["a0", "a1", "a2", "a3"]
    assert json.loads(rows[0]["extra"]) == {"tool": "grep"}


def test_json_says_the_same(home):
    unknown = json.loads(home.ask("land", log(home), "--format", "json", "--dry-run").stdout)["unknown"]
    assert {one["name"]: one["map"] for one in unknown} == {
        "completion": "response=completion", "question": "prompt=question", "ts": "created_at=ts",
        "retrieved": "memories_used=retrieved", "ok": "success=ok", "id": "interaction_id=id", "tool": None,
    }  # fmt: skip
    assert unknown[-1] == {"name": "tool", "rows": 4, "example": '"grep"', "like": None, "map": None}


def test_a_rehearsal_shows_three_rows_before_and_after(home):
    done = home.ask("land", log(home), *MAPS, "--dry-run")
    assert done.returncode == 0
    assert [line.split()[:2] for line in done.stdout.splitlines() if line.startswith("row ")] == [
        ["row", "1"], ["row", "2"], ["row", "3"],
    ]  # fmt: skip
    assert done.stdout.count("lands as") == 3
    assert '"question"' in done.stdout
    assert '"prompt":"Where is port 0?"' in " ".join(done.stdout.split())
    assert not (home.folder / "lake" / "interactions").exists()


def test_options_a_mapping_and_a_retry_land_the_same(home, tmp_path):
    def hashes(made: SmallHome, *how: tuple[str, ...]) -> list[str]:
        for arguments in how:
            made.ask("land", *arguments)
        query = "SELECT row_hash FROM interactions UNION ALL SELECT row_hash FROM outcomes ORDER BY 1"
        return json.loads(made.ask("sql", query, "--format", "json").stdout)

    by_options = hashes(home, (log(home), *MAPS))
    again = SmallHome(tmp_path / "again")
    by_retry = hashes(again, (log(again),), ("--retry-quarantine", *MAPS))
    assert len(by_options) == 8
    assert by_retry == by_options


def test_as_they_are(home):
    rows = [{"interaction_id": "a", "prompt": "Why?", "created_at": "2026-03-01", "completion": "So."}]
    assert totals(home.ask("land", log(home, rows), "--format", "json"))["quarantined"] == 1
    done = home.ask("land", "--retry-quarantine", "--as-is")
    assert done.returncode == 0
    (row,) = landed(home)
    assert (row["response"], json.loads(row["extra"])) == (None, {"completion": "So."})


def test_the_settings_keep_them(home):
    (home.folder / "settings.toml").write_text('[landing]\nunknown = "keep"\n')
    rows = [{"interaction_id": "a", "prompt": "Why?", "created_at": "2026-03-01", "completion": "So."}]
    assert totals(home.ask("land", log(home, rows), "--format", "json"))["accepted"] == 1


def test_files_of_the_inbox_are_mapped_every_night(home):
    declared(home)
    for night in range(2):
        app, other = dropped(home, f"app-{night}.jsonl", FOREIGN[night : night + 1]), dropped(home, f"b{night}.jsonl")
        result = home.nightly()
        assert (app.exists(), other.exists()) == (False, False)
        assert result.landed.total("accepted") == 1
    rows = landed(home)
    assert [(row["interaction_id"], row["project"]) for row in rows] == [("a0", "shop"), ("a1", "shop")]
    for row in rows:
        assert json.loads(row["extra"])["provenance"] == {"mapping": "app", "version": 2}


def test_a_mapping_that_cannot_be_used_leaves_its_files_and_lands_the_rest(home):
    declared(home, APP.replace("prompt = ", "promt = "))
    app, own = dropped(home, "app-1.jsonl"), dropped(home, "own.jsonl", [{"prompt": "Hm", "created_at": "2026-03-01"}])
    (said,) = home.land_inbox().unreadable
    assert (app.exists(), own.exists()) == (True, False)
    assert "app-1.jsonl stays where it is" in said
    assert "no field 'promt' (is it prompt?)" in said
    declared(home)
    assert home.land_inbox().total("accepted") == 4
    assert not app.exists()


def test_two_mappings_for_one_file_leave_it(home):
    declared(home)
    declared(home, APP.replace("app-*", "*-1"), "other")
    app = dropped(home, "app-1.jsonl")
    (said,) = home.land_inbox().unreadable
    assert "app (app-*.jsonl) and other (*-1.jsonl) match the same files" in said
    assert app.exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--mapping", "app"), "there is no mapping 'app' in"),
        (("--mapping", "../app"), "is no name of a mapping"),
        (("--mapping", "app", "--map", "prompt=q"), "cannot be given together"),
        (("--map", "promt=q"), "no field 'promt' (is it prompt?)"),
        (("--map", "q"), "write FIELD=NAME"),
    ],
)
def test_what_cannot_be_meant_is_told_and_lands_nothing(home, arguments, said):
    done = home.ask("land", log(home), *arguments)
    assert done.returncode != 0
    assert said in done.stderr
    assert not (home.folder / "lake" / "run_files").exists()


def test_a_mapping_of_what_is_not_there_is_told_and_the_rest_lands(home):
    done = home.ask("land", log(home), *MAPS, "--map", "user_id=meta.user", "--map", "project==shop")
    assert done.returncode == 0
    said = " ".join(done.stdout.split())
    assert "user_id=meta.user: 0 rows took it, 4 had no 'meta.user'" in said
    assert "project==shop: 4 rows took it" in said
    assert [row["project"] for row in landed(home)] == ["shop"] * 4


def test_a_file_that_landed_before_is_named_as_such(home):
    path = log(home)
    home.ask("land", path, *MAPS)
    said = " ".join(home.ask("land", path, *MAPS, "--map", "task_type=tool").stdout.split())
    assert "1 file has landed before" in said
    assert "took it" not in said


def test_a_mapping_is_suggested_written_and_used(home):
    path = log(home)
    printed = home.ask("mapping", "suggest", path).stdout
    assert 'response = "completion"  # "8443."' in printed
    assert '# "tool": "grep"' in printed
    done = home.ask("mapping", "suggest", path, "--name", "app", "--match", "app-*.jsonl")
    assert done.returncode == 0
    assert (home.folder / "mappings" / "app.toml").read_text() == printed.replace(
        '# match = "app-*.jsonl"', 'match = "app-*.jsonl"'
    )
    assert home.ask("mapping", "suggest", path, "--name", "app").returncode == 1
    assert totals(home.ask("land", path, "--mapping", "app", "--format", "json"))["accepted"] == 4
    assert [row["interaction_id"] for row in landed(home)] == ["a0", "a1", "a2", "a3"]


def test_conversations_are_taken_apart_and_every_row_is_accounted_for(home):
    talk = [
        {"role": role, "content": f"{role} {turn} says something."} for turn in (1, 2) for role in ("user", "assistant")
    ]
    rows = [
        {"id": f"c{n}", "ts": 1772900000 + n, "messages": talk, "level": "tool" if n else "trial"} for n in range(4)
    ]
    path = log(home, rows)
    shape = (
        "--map",
        "explode=messages",
        "--map",
        "prompt=messages.last(user)",
        "--map",
        "response=messages.last(assistant)",
    )
    named = (*shape, "--map", "created_at=ts", "--map", "interaction_id=id")
    done = home.ask("land", path, *named, "--map", "where=level==trial")
    assert done.returncode == 0  # three of four are left out on purpose
    assert "3 rows were left out" in done.stdout
    assert [row["interaction_id"] for row in landed(home)] == ["c0#1", "c0#2"]
    again = log(home, [rows[0], {**rows[1], "messages": []}], "again.jsonl")
    assert totals(home.ask("land", again, *named, "--format", "json")) == {
        "files": 1, "delivered": 2, "accepted": 0, "duplicate": 1, "quarantined": 1,
    }  # fmt: skip
    assert home.ask("land", "--retry-quarantine", *named).returncode == 0
    assert len(landed(home)) == 8


def test_nothing_is_suggested_for_rows_of_our_own(home):
    rows = [{"interaction_id": "a", "prompt": "Why?", "created_at": "2026-03-01", "zz": 1}]
    done = home.ask("mapping", "suggest", log(home, rows))
    assert done.returncode == 1
    assert "there is nothing to map" in done.stderr


def test_hostile_names_are_shown_harmlessly(home):
    name = "x\x1b[31m\n--map 'a"
    rows = [{"prompt": "Why?", "created_at": "2026-03-01", "completion": "So.", name: {"y" * 500: [[[]]] * 9}}]
    done = home.ask("land", log(home, rows))
    assert "\x1b" not in done.stdout
    assert all(len(line) < 200 for line in done.stdout.splitlines() if not line.startswith(" "))
    done = home.ask("mapping", "suggest", log(home, rows))
    assert "\x1b" not in done.stdout


def test_a_csv_of_other_names_is_one_that_lands(home):
    path = home.folder.parent / "app.csv"
    path.write_text("id,ts,question,completion\na,1772900000,Where?,There.\nb,1772900001,Who?,Ada.\n")
    assert totals(home.ask("land", str(path), "--format", "json")) == {
        "files": 1, "delivered": 2, "accepted": 0, "duplicate": 0, "quarantined": 2,
    }  # fmt: skip
    options = ("--map", "prompt=question", "--map", "response=completion", "--map", "created_at=ts")
    assert home.ask("land", "--retry-quarantine", *options).returncode == 0
    assert [row["response"] for row in landed(home)] == ["There.", "Ada."]
