"""The commands that write, as users see them: exit codes, standard output and error, and what is on the disk."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest
from small_home import SmallHome
from thorough import some

from slowwave.flows.cli.main import main
from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.kernel.settings import Settings

MEMORY = {"memory_id": "m1", "changed_at": "2026-03-01", "status": "active", "content": "Use tabs in every Makefile"}
INTERACTION = {
    "interaction_id": "i1",
    "created_at": "2026-03-05",
    "prompt": "How?",
    "response": "use tabs in every makefile",
}
BLANK = {"created_at": "2026-03-05", "prompt": " "}

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SLOWWAVE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["slowwave"])
    for name in [name for name in os.environ if name.startswith("PREFECT_")]:
        monkeypatch.delenv(name)
    return tmp_path / "home"


@pytest.fixture
def command(home: Path, capfd: pytest.CaptureFixture[str]) -> Command:  # noqa: ARG001 - it sets the environment
    """Runs a command in this process; returns its exit code, standard output and standard error."""

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as done:
            main(list(arguments))
        said = capfd.readouterr()
        return int(done.value.code or 0), said.out, said.err

    return run


def jsonl(path: Path, *rows: dict[str, Any] | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows))
    return path


def files_below(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def started(home: Path, *arguments: str, stdin: int | None = None) -> subprocess.Popen[str]:
    """A command in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "slowwave.flows.cli.main", *arguments],
        env={**os.environ, "SLOWWAVE_HOME": str(home)},
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def slowwave(home: Path, *arguments: str, stdin: str | None = None) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a command in a process of its own."""
    process = started(home, *arguments, stdin=None if stdin is None else subprocess.PIPE)
    out, err = process.communicate(stdin, timeout=300)
    return process.returncode, out, err


# -------------------------------------------------------------------------------------------------------------- land


def test_land_counts_every_row_and_exits_0_with_quarantined_ones(command: Command, tmp_path: Path) -> None:
    log = jsonl(tmp_path / "log.jsonl", MEMORY, INTERACTION, INTERACTION, BLANK, "no json")
    code, out, err = command("land", log.name)
    assert code == 0
    header, row, *rest = [line.split() for line in out.splitlines()]
    assert header == ["file", "delivered", "accepted", "duplicate", "quarantined"]
    assert row == ["log.jsonl", "5", "2", "1", "2"]
    assert "1 × prompt is blank" in out
    assert re.search(r"^next +slowwave nightly$", out, re.MULTILINE)
    assert re.search(r"slowwave sql \"SELECT .* FROM quarantine WHERE run_id = '\d{8}T\d+-\w+'\"$", out.strip())
    assert rest
    assert err == "slowwave: landing\n"


def test_what_landed_is_published_next_and_duplicates_are_not(command: Command, tmp_path: Path) -> None:
    log = jsonl(tmp_path / "log.jsonl", MEMORY, INTERACTION)
    assert re.search(r"^next +slowwave nightly$", command("land", log.name)[1], re.MULTILINE)
    assert "next" not in command("land", log.name)[1]


def test_land_as_json_is_json_and_nothing_else(command: Command, tmp_path: Path) -> None:
    log = jsonl(tmp_path / "log.jsonl", INTERACTION, BLANK)
    code, out, _ = command("land", "--format", "json", str(log), str(log))
    printed = json.loads(out)
    assert code == 0
    assert printed["totals"] == {"files": 2, "delivered": 4, "accepted": 1, "duplicate": 2, "quarantined": 1}
    assert [file["duplicate"] for file in printed["files"]] == [0, 2]
    assert printed["reasons"] == {"prompt is blank": 1}
    assert printed["not_read"] == []


def test_a_missing_path_is_told_and_the_others_land(command: Command, tmp_path: Path) -> None:
    log = jsonl(tmp_path / "log.jsonl", INTERACTION)
    code, out, err = command("land", "--format", "json", str(tmp_path / "none.jsonl"), str(log))
    assert code == 1
    assert json.loads(out)["totals"]["accepted"] == 1
    assert json.loads(out)["not_read"] == [f"{tmp_path / 'none.jsonl'}: no such file, folder or match"]
    assert err.splitlines()[-1] == f"slowwave: {tmp_path / 'none.jsonl'}: no such file, folder or match"


@pytest.mark.parametrize("named", [".", "lake", "lake/*/*/*.parquet", "serving", "link"])
def test_the_homes_own_files_do_not_land_again(command: Command, home: Path, tmp_path: Path, named: str) -> None:
    log = jsonl(tmp_path / "log.jsonl", INTERACTION, MEMORY, BLANK)
    assert command("land", str(log))[0] == 0
    jsonl(home / "serving" / "what.jsonl", INTERACTION)
    (home / "link").symlink_to(next((home / "lake" / "interactions").glob("*/*.parquet")))
    code, out, err = command("land", str(home / named), "--format", "json")
    assert code == 1
    assert json.loads(out)["totals"]["files"] == 0
    assert f"{home / named} names files of" in err
    assert "not of producers: nothing of it was landed" in err


def test_a_dry_run_counts_like_a_landing_and_writes_nothing(command: Command, home: Path, tmp_path: Path) -> None:
    log = jsonl(tmp_path / "log.jsonl", MEMORY, INTERACTION, INTERACTION, BLANK)
    code, out, _ = command("land", "--dry-run", "--format", "json", str(log))
    assert code == 0
    assert not home.exists()
    rehearsed = json.loads(out)
    assert rehearsed == json.loads(command("land", "--format", "json", str(log))[1])
    before = files_below(home)
    again = json.loads(command("land", "--dry-run", "--format", "json", str(log))[1])
    assert (again["totals"]["accepted"], again["totals"]["duplicate"]) == (0, 4)
    assert files_below(home) == before


def test_land_without_paths_empties_the_inbox(command: Command, home: Path) -> None:
    jsonl(home / "inbox" / "a.jsonl", INTERACTION)
    jsonl(home / "inbox" / "b.jsonl.tmp", BLANK)
    assert command("land", "--dry-run")[0] == 0
    assert files_below(home / "inbox") == {"a.jsonl", "b.jsonl.tmp"}
    code, out, _ = command("land")
    assert code == 0
    assert "a.jsonl" in out
    assert files_below(home / "inbox") == {"b.jsonl.tmp"}
    assert command("land")[1] == f"nothing to land in {home / 'inbox'}\n"


def test_land_reads_standard_input(home: Path) -> None:
    code, out, err = slowwave(
        home, "land", "-", "--kind", "interactions", "--format", "json", stdin=json.dumps(INTERACTION)
    )
    assert code == 0, err
    assert json.loads(out)["files"][0]["source"] == "-"
    assert json.loads(out)["totals"]["accepted"] == 1


def test_of_many_files_those_with_refused_rows_are_shown_and_the_rest_summed(command: Command, tmp_path: Path) -> None:
    for number in range(40):
        jsonl(tmp_path / "logs" / f"{number:02}.jsonl", {**INTERACTION, "interaction_id": f"i{number}"})
    jsonl(tmp_path / "logs" / "bad.jsonl", BLANK, {**INTERACTION, "interaction_id": "last"})
    _, out, _ = command("land", "logs")
    rows = [line.split() for line in out.splitlines()]
    assert rows[1] == ["logs/bad.jsonl", "2", "1", "0", "1"]
    assert rows[2] == ["40", "more", "40", "40", "0", "0"]
    assert rows[3] == ["total", "42", "41", "0", "1"]


def test_names_and_reasons_cannot_drive_the_terminal(command: Command, tmp_path: Path) -> None:
    log = jsonl(tmp_path / "\x1b[2J[bold]evil\u202e.jsonl", {**MEMORY, "status": "\x1b]0;owned\x07"})
    code, out, err = command("land", log.name, "--max-refused", "1")
    assert code == 0
    assert "\\x1b[2J[bold]evil\\u202e.jsonl" in out.replace("\n", "")
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202e]", out + err)


# -------------------------------------------------------------------------------------------------------- plan, prune


def test_the_plan_says_why_and_writes_nothing(command: Command, home: Path, tmp_path: Path) -> None:
    code, out, err = command("nightly", "--plan")
    assert (code, out) == (1, "")
    assert err == f"slowwave: nothing has been landed in {home} yet: run `slowwave land PATH` first\n"
    assert not home.exists()
    later = [{**INTERACTION, "interaction_id": f"l{day}", "created_at": f"2026-03-{day:02}"} for day in (6, 7, 20)]
    command("land", str(jsonl(tmp_path / "log.jsonl", MEMORY, INTERACTION, *later)))
    jsonl(home / "inbox" / "waits.jsonl", BLANK)
    before = files_below(home)
    code, out, err = command("nightly", "--plan", "--as-of", "2026-03-10")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "plan as of 2026-03-10 00:00:00Z, of what has landed so far",
        "to rebuild   3 of 3 days",
        "             new day: 3 days, 2026-03-05 to 2026-03-07",
        "inbox        1 file waiting, not looked into",
    ]
    assert files_below(home) == before


def test_prune_says_what_went(command: Command, tmp_path: Path) -> None:
    command("land", str(jsonl(tmp_path / "log.jsonl", INTERACTION)))
    code, out, _ = command("lake", "prune", "--keep", "0")
    assert (code, out) == (0, "removed 0 serving files and 0 evidence partitions: 0.0 kB\n")


# -------------------------------------------------------------------------------------------------------- wrong usage


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nightly", "--as-of", "soon"], "'soon' is no time"),
        (["nightly", "--plan", "--as-of", "2026-02-30"], "'2026-02-30' is no time"),
        (["backfill", "--from", "2026-02-30", "--to", "2026-03-01"], "'2026-02-30' is no day"),
        (["backfill", "--from", "2026-03-02", "--to", "2026-03-01"], "2026-03-02 is after 2026-03-01"),
        (["backfill", "--from", "2026-03-02"], "Missing option '--to'"),
        (["serve", "--timezone", "Mars/Olympus"], "'Mars/Olympus' is no time zone"),
        (["serve", "--timezone", "../../etc/passwd"], "is no time zone"),
        (["serve", "--land-minutes", "0"], "--land-minutes"),
        (["lake", "prune", "--keep", "-1"], "--keep"),
        (["land", "--kind", "gossip"], "--kind"),
        (["nightly", "now"], "unexpected extra argument"),
        (["why", "\udcff"], "the arguments are not UTF-8"),
    ],
)  # fmt: skip
def test_wrong_usage_exits_2_and_touches_nothing(command: Command, home: Path, arguments: list[str], says: str) -> None:
    code, out, err = command(*arguments)
    assert (code, out) == (2, "")
    assert says in err
    assert "Traceback" not in err
    assert not home.exists()


# --------------------------------------------------------------------------------- faults found before Prefect starts


def test_a_home_that_cannot_be_written_is_one_sentence(command: Command, home: Path) -> None:
    home.write_text("a file, not a folder")
    for arguments in (["nightly"], ["land"], ["demo"], ["backfill", "--from", "2026-03-01", "--to", "2026-03-02"]):
        code, out, err = command(*arguments)
        assert (code, out) == (1, "")
        assert len(err.splitlines()) == 1, err
        assert err.startswith("slowwave: ")


def test_a_prefect_home_that_cannot_be_written_is_found_first(
    command: Command, home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path / "file"))
    jsonl(home / "inbox" / "a.jsonl", INTERACTION)
    code, out, err = command("nightly")
    assert (code, out) == (1, "")
    assert err.splitlines()[-1].startswith(f"slowwave: Prefect's home {tmp_path / 'file'} cannot be written")
    assert (home / "inbox" / "a.jsonl").exists()


def test_a_server_that_is_not_there_is_one_sentence(
    command: Command, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:9/api")
    monkeypatch.setattr("slowwave.flows.schedule.server.ANSWER_SECONDS", 0.5)
    jsonl(home / "inbox" / "a.jsonl", INTERACTION)
    code, out, err = command("nightly")
    assert (code, out) == (1, "")
    assert "http://127.0.0.1:9/api cannot be reached" in err.splitlines()[-1]
    assert (home / "inbox" / "a.jsonl").exists()


def test_a_second_writer_waits_and_says_for_whom(home: Path, tmp_path: Path) -> None:
    log = jsonl(tmp_path / "log.jsonl", INTERACTION)
    with writer_lock(Settings(home), "nightly"):
        second = started(home, "land", str(log))
        assert second.stderr
        said = second.stderr.readline()
        assert f"waiting for `slowwave nightly` (process {os.getpid()} on " in said
        assert not (home / "lake" / "interactions").exists()
    out, err = second.communicate(timeout=300)
    assert second.returncode == 0, err
    assert "log.jsonl" in out


# -------------------------------------------------------------------------------------------------------------- demo


def test_the_demo_keeps_away_from_other_logs(command: Command, home: Path, tmp_path: Path) -> None:
    command("land", str(jsonl(tmp_path / "log.jsonl", INTERACTION)))
    code, out, err = command("demo")
    assert (code, out) == (1, "")
    assert err.startswith(f"slowwave: {home} holds logs of its own")
    assert not (home / "inbox").exists()


def test_the_demo_keeps_away_from_logs_that_wait(command: Command, home: Path) -> None:
    jsonl(home / "inbox" / "a.jsonl", INTERACTION)
    assert command("demo")[0] == 1
    assert files_below(home / "inbox") == {"a.jsonl"}


def test_a_home_holds_one_demo_and_says_so(command: Command, home: Path, tmp_path: Path) -> None:
    home.mkdir()
    (home / "demo.json").write_text('{"seed": 7, "days": 30}')
    code, _, err = command("demo", "--seed", "8")
    assert code == 1
    assert "holds another demo (seed 7, days 30)" in err
    _, _, err = command("land", str(jsonl(tmp_path / "log.jsonl", INTERACTION)))
    assert "holds the sample logs of the demo" in err


# ------------------------------------------------------------------------------------------- the whole, with Prefect


def children_of(home: Path) -> list[str]:
    """Command lines of the processes that work in this home's Prefect folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            environment = (process / "environ").read_bytes().split(b"\0")
            if f"PREFECT_HOME={home / 'prefect'}".encode() in environment:
                found.append((process / "cmdline").read_text().replace("\0", " "))
        except OSError:
            continue
    return found


@pytest.mark.prefect
@pytest.mark.slow
def test_nightly_prints_one_screen_and_leaves_nothing_behind(home: Path) -> None:
    jsonl(home / "inbox" / "a.jsonl", MEMORY, INTERACTION, BLANK)
    code, out, err = slowwave(home, "nightly", "--as-of", "2026-03-10")
    assert code == 0, err
    lines = out.splitlines()
    assert lines[0] == "published as of 2026-03-10 00:00:00Z"
    assert "landed       1 file: 3 rows delivered = 2 accepted + 0 duplicate + 1 quarantined" in lines
    assert "             new day: 2026-03-05" in lines
    assert any(line.startswith("published    memory_health 1 row") for line in lines)
    assert len(lines) < 35  # of a first publish, which says what the logs can answer
    assert all(line.startswith("slowwave: ") for line in err.splitlines()), err
    assert not list((home / "inbox").iterdir())
    assert children_of(home) == []
    with duckdb.connect(home / "serving" / "current.duckdb", read_only=True) as connection:
        assert connection.sql("SELECT memory_id, echoed_count FROM memory_health").fetchall() == [("m1", 1)]


@pytest.mark.prefect
@pytest.mark.slow
def test_two_nightly_runs_at_once_take_turns(home: Path) -> None:
    jsonl(home / "inbox" / "a.jsonl", MEMORY, INTERACTION)
    with writer_lock(Settings(home), "land"):  # so that both are there before one of them may begin
        both = [started(home, "nightly", "--as-of", "2026-03-10") for _ in range(2)]
        for one in both:
            assert one.stderr
            assert f"waiting for `slowwave land` (process {os.getpid()} on " in one.stderr.readline()
    told = [one.communicate(timeout=600) for one in both]
    assert [one.returncode for one in both] == [0, 0], told
    assert sorted(out.split()[0] for out, _ in told) == ["published", "skipped"]
    assert children_of(home) == []


@pytest.mark.prefect
@pytest.mark.slow
def test_the_demo_runs_twice_and_its_commands_work(home: Path) -> None:
    code, out, err = slowwave(home, "demo", "--days", "5")
    assert code == 0, err
    (why,) = re.findall(r"slowwave why (\S+)$", out, re.MULTILINE)
    assert slowwave(home, "why", why)[0] == 0
    (refused,) = re.findall(r'slowwave sql "(SELECT .* FROM quarantine .*)"$', out, re.MULTILINE)
    (quarantined,) = re.findall(r"(\d+) quarantined", out)
    assert len(json.loads(slowwave(home, "sql", refused, "--format", "json")[1])) == int(quarantined) > 0
    code, out, err = slowwave(home, "demo", "--days", "5")
    assert code == 0, err
    assert out.startswith("skipped")
    assert " 0 accepted " in out


@pytest.mark.prefect
@pytest.mark.slow
def test_a_killed_command_takes_its_server_with_it(home: Path) -> None:
    jsonl(home / "inbox" / "a.jsonl", INTERACTION)
    one = started(home, "nightly")
    assert one.stderr
    for line in one.stderr:
        if "Prefect started" in line:
            break
    assert any("schedule.child" in line for line in children_of(home))
    one.kill()
    one.communicate(timeout=300)
    deadline = time.monotonic() + 600
    while children_of(home) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert children_of(home) == []


def test_a_lake_that_is_a_url_of_no_bucket_is_refused(
    home: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLOWWAVE_LAKE", "ftp://server/lake")
    jsonl(home / "inbox" / "a.jsonl", INTERACTION)
    for arguments in (["land"], ["status"], ["doctor"], ["nightly"], ["sql", "SELECT count(*) FROM interactions"]):
        code, out, err = command(*arguments)
        assert (code, out) == (1, "")
        assert err.startswith("slowwave: SLOWWAVE_LAKE is ftp://server/lake, which is no lake")
    assert not (Path.cwd() / "ftp:").exists()


@pytest.mark.slow
@pytest.mark.parametrize("locale", some(["C", "en_US.ISO-8859-1"], 1))
def test_any_locale_will_do(home: Path, tmp_path: Path, locale: str) -> None:
    """Where Python is told to take files for ASCII, or for Latin-1, ours are UTF-8 all the same."""
    home.mkdir()
    (home / "params.toml").write_text("# é\n", encoding="utf-8")
    (tmp_path / "a.jsonl").write_bytes('{"prompt": "é", "created_at": "2026-03-05"}\n'.encode())
    environment = {**os.environ, "LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    for arguments in (["land", "a.jsonl"], ["nightly", "--plan"], ["sql", "SELECT prompt FROM interactions"]):
        done = subprocess.run(
            [sys.executable, "-m", "slowwave.flows.cli.main", *arguments],
            env=environment, cwd=tmp_path, capture_output=True, timeout=120, check=False,
        )  # fmt: skip
        assert (done.returncode, b"Traceback" in done.stderr) == (0, False), done.stderr.decode()


def test_a_damaged_file_of_the_lake_is_named(home: Path, command: Command) -> None:
    command("land", str(jsonl(home.parent / "a.jsonl", INTERACTION, MEMORY)))
    (day,) = (home / "lake" / "interactions").glob("day=*")
    (day.parent / "day=2026-99-99").mkdir()  # none of ours, and nobody minds
    assert command("nightly", "--plan")[0] == 0
    (file,) = day.glob("*.parquet")
    file.write_bytes(file.read_bytes()[:200])
    jsonl(home / "inbox" / "b.jsonl", {**INTERACTION, "interaction_id": "i2"})
    for arguments in (["land"], ["sql", "SELECT count(*) FROM interactions"]):
        code, _, err = command(*arguments)
        assert (code, f"{file} is damaged" in err) == (1, True)
    assert (home / "inbox" / "b.jsonl").exists()


LONG = "\N{SNOWMAN} " * 2_500


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A published home, which nothing here changes."""
    made = SmallHome(tmp_path_factory.mktemp("commands") / "home")
    made.land(MEMORY, INTERACTION)
    made.nightly(datetime(2026, 3, 10))  # noqa: DTZ001 - naive UTC
    return made.folder


@pytest.mark.parametrize(
    "arguments",
    [
        ["forget", "restore", LONG, "--yes"],
        ["review", "promote", LONG],
        ["nightly", "--leave-out", f"memories:{LONG}"],
        ["nightly", "--leave-in", f"memories:{LONG}"],
        ["nightly", "--leave-out", LONG],
        ["sql", LONG.replace(" ", "_").replace("\N{SNOWMAN}", "a")],
        ["inspect", "schema", LONG],
        ["inspect", "export", LONG],
        ["inspect", "diff", LONG, LONG],
        ["sql", "SELECT 1", "--as-of", LONG],
        ["nightly", "--as-of", LONG],
        ["backfill", "--from", LONG, "--to", LONG],
    ],
    ids=lambda arguments: " ".join(word for word in arguments if len(word) < 20),
)
def test_a_long_name_is_shortened_in_what_is_said_of_it(
    published: Path, command: Command, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.setenv("SLOWWAVE_HOME", str(published))
    code, out, err = command(*arguments)
    assert code in (1, 2)
    assert len(out + err) < 1_500
