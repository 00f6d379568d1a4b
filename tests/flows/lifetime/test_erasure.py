"""`slowwave lake erase`: shown first; then it stands nowhere, comes never again, and all else is as it was."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import os
import shutil
import stat
import tarfile
from pathlib import Path
from typing import Any

import duckdb
import orjson
import polars as pl
import pytest
import zstandard
from erasable_home import AS_OF, ASKED, COMMON, KEPT, OF_ADA, OF_BOB, SESSION, TOLD, USER, ada, erasable, places
from otlp_documents import chat, span, traces
from released_homes import RELEASES, landed_files, last_as_of, published, released_home
from small_home import Row, SmallHome, interaction, memory

from slowwave.flows.lake.lifetime.tombstones import read_tombstones
from slowwave.flows.land.received_files import ReceivedFile
from slowwave.flows.publish.serving import table_hash
from slowwave.transforms.graph import PUBLISHED

pytestmark = pytest.mark.slow

WORDS = (USER, SESSION, ASKED, KEPT, "ended-ada", "flagstone")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> SmallHome:
    return erasable(SmallHome(tmp_path_factory.mktemp("erasing") / "home"))


@pytest.fixture
def home(template: SmallHome, tmp_path: Path) -> SmallHome:
    shutil.copytree(template.folder, tmp_path / "home", symlinks=True)
    return SmallHome(tmp_path / "home")


def erased(home: SmallHome, *options: str) -> dict[str, Any]:
    done = home.ask("lake", "erase", *options, "--yes", "--format", "json")
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def hashes(home: SmallHome) -> dict[str, str]:
    with duckdb.connect(home.settings.current, read_only=True) as connection:
        return {table.name: table_hash(connection, table.name) for table in PUBLISHED}


def refusals(home: SmallHome) -> list[tuple[Any, ...]]:
    with duckdb.connect(home.settings.current, read_only=True) as connection:
        return connection.execute("SELECT reason, raw_text, kept_file FROM quarantine ORDER BY ALL").fetchall()


def test_without_yes_it_is_shown_and_nothing_changes(home: SmallHome) -> None:
    before = home.contents()
    done = home.ask("lake", "erase", "--user", USER)
    assert done.returncode == 0, done.stderr
    assert home.contents() == before
    for said in ("5 versions of interactions", "of memories", "serving files", "reports", "kept bytes", "backups"):
        assert said in done.stdout
    assert "1 file would land first" in done.stdout
    assert "repeat it" in done.stdout
    assert "asked-bob" in done.stdout
    assert TOLD not in done.stdout


def test_it_stands_nowhere_and_others_are_as_if_it_had_never_been_delivered(home: SmallHome, tmp_path: Path) -> None:
    found_in = {path.split("/")[0] for path in places(home.folder, *WORDS)}
    assert found_in >= {"export", "inbox", "lake", "prefect", "serving"}
    found = erased(home, "--user", USER)
    assert found["rows"] == {"interactions": 6, "outcomes": 5, "memories": 2}
    assert found["repeated_by_others"] == {"interactions": 4, "memories": 1}
    assert places(home.folder, *WORDS) == []
    assert places(home.folder, COMMON)
    other = SmallHome(tmp_path / "other")
    other.land(*OF_BOB)
    other.nightly(AS_OF)
    home.nightly(AS_OF)
    apart = {"forgetting_audit", "review_decisions"}
    assert {name: of for name, of in hashes(home).items() if name not in apart} == {
        name: of for name, of in hashes(other).items() if name not in apart
    }
    assert home.ask("sql", "SELECT count(*) AS n FROM interactions", "--as-of", "2026-03-05").returncode == 0
    assert places(home.folder, *WORDS) == []


def test_what_is_kept_is_a_hash_by_a_key_that_is_the_owners_alone(home: SmallHome) -> None:
    os.umask(0o022)
    erased(home, "--user", USER)
    os.umask(0o077)
    key = home.folder / "lake" / "erased" / "key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert [path.name for path in key.parent.iterdir()] == ["key"]
    keys = read_tombstones(home.folder / "lake")
    assert keys is not None
    assert keys.is_erased("interactions", f"{ASKED}-1")
    assert not keys.is_erased("interactions", "asked-bob-1")
    done = home.ask("why", f"{ASKED}-1")
    assert done.returncode == 1
    assert "was erased on" in done.stderr
    assert home.ask("lake", "erase", "--user", USER).stdout.count("nothing of it is here") == 1


@pytest.mark.parametrize("form", ["jsonl", "jsonl.gz", "jsonl.zst", "csv", "parquet"])
def test_delivered_again_it_is_refused_and_no_text_of_it_kept(home: SmallHome, tmp_path: Path, form: str) -> None:
    erased(home, "--user", USER)
    log = tmp_path / f"again.{form}"
    late = {
        "outcome_id": "ended-late",
        "created_at": "2026-03-09T10:00:00Z",
        "success": True,
        "interaction_id": f"{ASKED}-1",
    }
    rows = [ada(1), late, memory(KEPT, changed_at="2026-03-09T08:00:00Z"), interaction("new-of-bob")]
    log.write_bytes(packed(rows, form))
    done = home.ask("land", str(log), "--format", "json")
    assert done.returncode == 0  # though most of its rows were refused: that was asked for
    counts = json.loads(done.stdout)["totals"]
    assert (counts["accepted"], counts["duplicate"], counts["quarantined"]) == (1, 0, 3)
    assert "it was erased by `slowwave erase`" in done.stdout
    home.nightly(AS_OF)
    told = [row for row in refusals(home) if "erased" in row[0] and row[1] == ""]
    assert len(told) >= 3
    assert places(home.folder, *WORDS, "ended-late") == []


@pytest.mark.parametrize(
    "rows", [[interaction("new-of-bob")], [ada(1), interaction("new-of-bob")]], ids=["new", "both"]
)
def test_the_same_bytes_twice_at_once_land_once(home: SmallHome, tmp_path: Path, rows: list[Row]) -> None:
    erased(home, "--user", USER)
    logs = [tmp_path / f"{name}.jsonl" for name in ("first", "second")]
    for log in logs:
        log.write_bytes(packed(rows, "jsonl"))
    done = home.ask("land", *map(str, logs), "--format", "json")
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stdout)["totals"]
    assert (counts["accepted"], counts["duplicate"]) == (1, len(rows))
    assert counts["quarantined"] == len(rows) - 1
    home.nightly(AS_OF)
    assert places(home.folder, f"{ASKED}-1") == []


def packed(rows: list[Row], form: str) -> bytes:
    if form == "csv":
        out = io.StringIO()
        writer = csv.DictWriter(out, list(dict.fromkeys(name for row in rows for name in row)))
        writer.writeheader()
        writer.writerows(rows)
        return out.getvalue().encode()
    if form == "parquet":
        stream = io.BytesIO()
        pl.DataFrame(rows, infer_schema_length=None).write_parquet(stream)
        return stream.getvalue()
    lines = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
    return {
        "jsonl": lambda: lines,
        "jsonl.gz": lambda: gzip.compress(lines),
        "jsonl.zst": lambda: zstandard.compress(lines),
    }[form]()


def test_the_very_file_that_brought_it_is_refused_row_by_row_and_accounted_for(tmp_path: Path) -> None:
    home = SmallHome(tmp_path / "home")
    home.land(*OF_ADA, *OF_BOB, "{broken")
    home.nightly(AS_OF)
    erased(home, "--user", USER)
    log, copy = str(tmp_path / "home-log-1.jsonl"), str(tmp_path / "copy.jsonl")
    shutil.copyfile(log, copy)
    for refused, logs in ((len(OF_ADA), [log, copy]), (0, [log])):
        done = home.ask("land", *logs, "--format", "json")
        counts = json.loads(done.stdout)["totals"]
        assert done.returncode == 0
        assert (counts["accepted"], counts["quarantined"]) == (0, refused)
        assert counts["delivered"] == len(logs) * (len(OF_ADA) + len(OF_BOB) + 1)
        assert counts["delivered"] == counts["duplicate"] + counts["quarantined"]
    assert home.ask("land", "--retry-quarantine").returncode == 0
    assert home.ask("land", "--retry-quarantine").returncode == 0
    home.nightly(AS_OF)
    assert places(home.folder, *WORDS) == []
    with duckdb.connect(home.settings.current, read_only=True) as connection:
        ((told,),) = connection.execute("SELECT sum(quarantined) FROM run_files").fetchall()
        assert connection.execute("SELECT count(*) FROM quarantine").fetchall() == [(told,)]


def test_a_refused_row_that_names_it_is_blank_and_a_file_that_breaks_off_is_not_kept(
    home: SmallHome, tmp_path: Path
) -> None:
    erased(home, "--interaction", f"{ASKED}-1")
    bad = json.dumps({**ada(1), "created_at": "never"})
    cut = gzip.compress(f"{json.dumps(ada(1))}\n{json.dumps(interaction('fine'))}\n".encode(), mtime=0)[:-9]
    (tmp_path / "bad.jsonl").write_text(f"{bad}\n")
    (tmp_path / "cut.jsonl.gz").write_bytes(cut)
    for name in ("bad.jsonl", "cut.jsonl.gz"):
        home.ask("land", str(tmp_path / name), "--max-refused", "1")
    home.nightly(AS_OF)
    assert places(home.folder, f"{ASKED}-1") == []
    there = {path.name for path in home.folder.glob("lake/quarantine/files/*")}
    assert {kept for *_, kept in refusals(home)} <= {None, *there}
    assert home.ask("land", "--retry-quarantine").returncode == 0


def test_a_file_refused_whole_that_names_it_is_not_kept(home: SmallHome, tmp_path: Path) -> None:
    assert (home.folder / "lake" / "FORMAT").read_text() == "7\n"
    erased(home, "--interaction", f"{ASKED}-1")
    assert (home.folder / "lake" / "FORMAT").read_text() == "7\n"  # an earlier release would land it again
    for name, row in (("named.tar", ada(1)), ("other.tar", interaction("fine"))):
        (tmp_path / "log.jsonl").write_text(f"{json.dumps(row)}\n")
        with tarfile.open(tmp_path / name, "w") as archive:
            archive.add(tmp_path / "log.jsonl", "log.jsonl")
        home.ask("land", str(tmp_path / name), "--max-refused", "1")
    there = {path.name for path in home.folder.glob("lake/quarantine/files/*")}
    assert hashlib.sha256((tmp_path / "named.tar").read_bytes()).hexdigest() not in there
    assert hashlib.sha256((tmp_path / "other.tar").read_bytes()).hexdigest() in there


def test_each_kind_takes_what_it_names_and_no_more(home: SmallHome) -> None:
    found = erased(home, "--memory", KEPT, "--interaction", f"{ASKED}-2", "--memory", "misspelt")
    assert found["without_rows"] == [{"kind": "memory", "id": "misspelt"}]
    assert found["rows"] == {"interactions": 1, "outcomes": 1, "memories": 1}
    assert places(home.folder, f"{ASKED}-1") != []
    assert erased(home, "--session", SESSION)["rows"] == {"interactions": 5, "outcomes": 4, "memories": 0}
    assert places(home.folder, SESSION, f"{ASKED}-1") == []
    assert places(home.folder, f"{KEPT}-2") != []


def test_rows_of_others_that_name_it_stay_and_are_told(home: SmallHome) -> None:
    found = erased(home, "--memory", "known-of-bob")
    assert found["named_by_others"] == {"interactions": 4}
    done = home.ask(
        "sql", "SELECT count(*) AS n FROM interactions WHERE memories_used = ['known-of-bob']", "--format", "json"
    )
    assert json.loads(done.stdout) == [{"n": 4}]
    assert "memory known-of-bob: erased on 2" in home.ask("why", "known-of-bob", "--all").stdout


def test_sessions_that_others_had_part_in_are_theirs_and_no_name_of_it(tmp_path: Path) -> None:
    home = SmallHome(tmp_path / "home")
    home.land(*(interaction(user, session_id="both", user_id=user) for user in ("ada", "bob")))
    home.nightly(AS_OF)
    assert erased(home, "--user", "ada")["named_by_others"] == {}


HOSTILE = (
    "a",
    "%",
    "'; DROP TABLE runs; --",
    "../../etc",
    'say "x"\n',
    "é\U0001f9e0",
    "m.*",
    "x" * 5_000,
    "\x1b[31m",
    "--yes",
)


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_any_text_is_an_id(tmp_path: Path, name: str) -> None:
    home = SmallHome(tmp_path / "home")
    of = {"session_id": f"{name}!", "user_id": name, "prompt": "What stands beneath the old bridge over the canal?"}
    home.land(interaction(name, **of), interaction(f"{name}b", prompt="a % m.* of others"), memory(f"b{name}"))
    home.nightly(AS_OF)
    found = erased(home, f"--user={name}")
    assert found["rows"] == {"interactions": 1, "outcomes": 0, "memories": 0}
    assert found["left"] == []
    assert places(home.folder, "canal") == []
    done = home.ask("sql", "SELECT count(*) AS n FROM interactions", "--format", "json")
    assert json.loads(done.stdout) == [{"n": 1}]


def test_a_trace_that_is_waited_for_is_erased_with_its_session(tmp_path: Path) -> None:
    home = SmallHome(tmp_path / "home")
    home.land(memory("m-1"), interaction("i-1", session_id="of-bob"))
    home.nightly()
    home.settings.inbox.mkdir(parents=True)
    said = {**chat("Where is the quokkaberry?", "Here."), "gen_ai.conversation.id": "of-ada"}
    document = traces(span(2, said, parent=1))
    ReceivedFile(home.settings.inbox, "capture", "otlp", 1, 1).path.write_bytes(orjson.dumps(document) + b"\n")
    assert home.ask("land").returncode == 0
    assert [path.name[:8] for path in home.settings.inbox.iterdir()] == ["received"]
    done = home.ask("lake", "erase", "--session", "of-ada")
    assert "1 file would land first" in done.stdout
    done = home.ask("lake", "erase", "--session", "of-ada", "--yes")
    assert done.returncode == 0, done.stdout + done.stderr
    assert list(home.settings.inbox.iterdir()) == []
    assert home.ask("nightly").returncode == 0
    assert home.ask("sql", "SELECT DISTINCT session_id FROM interactions_log", "--format", "csv").stdout.split() == [
        "session_id",
        "of-bob",
    ]


def test_another_home_over_the_lake_erases_what_it_published(
    home: SmallHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLOWWAVE_LAKE", str(home.folder / "lake"))
    other = SmallHome(tmp_path / "other")
    other.nightly(AS_OF)
    assert places(other.folder, *WORDS)
    assert "the same command there" in str(erased(home, "--user", USER)["outside"])
    assert places(home.folder, *WORDS) == []
    assert erased(other, "--user", USER)["is_erased"]
    assert places(other.folder, *WORDS) == []
    assert "nothing of it is here" in other.ask("lake", "erase", "--user", USER, "--yes").stdout


def test_a_file_that_slowwave_did_not_write_is_named_and_left(home: SmallHome) -> None:
    note = home.folder / "notes.txt"
    note.write_text(f"remember {TOLD}")
    done = home.ask("lake", "erase", "--user", USER, "--yes")
    assert done.returncode == 1
    assert ("notes.txt" in done.stdout, "it stands in none" in done.stdout) == (True, False)
    assert places(home.folder, *WORDS) == ["notes.txt"]


def test_what_is_not_there_and_what_is_not_named_is_said(home: SmallHome) -> None:
    before = home.contents()
    done = home.ask("lake", "erase", "--memory", "nobody knows")
    assert (done.returncode, "nobody knows" in done.stderr) == (1, True)
    assert home.ask("lake", "erase").returncode == 2
    assert home.ask("lake", "erase", "--user", " ").returncode == 2
    assert home.contents() == before


@pytest.mark.parametrize("version", RELEASES)
def test_a_home_that_an_earlier_release_left_is_erased_from_too(version: str, tmp_path: Path) -> None:
    home = released_home(version, tmp_path)
    as_of, files = last_as_of(home), landed_files(home)
    rows = published(home, "SELECT DISTINCT interaction_id FROM memory_references ORDER BY 1")
    chosen = rows[len(rows) // 2][0]
    assert places(home.folder, chosen)
    found = erased(home, "--interaction", chosen)
    assert found["rows"]["interactions"] == 1
    assert places(home.folder, chosen) == []
    # of the files as that release wrote them only those change that held it, and what is left has the columns it had
    changed = {path for path in files if path not in landed_files(home)}
    assert 1 <= len(changed) <= 4
    home.nightly(as_of)
    full = hashes(home)
    home.nightly(as_of, full=True)
    assert hashes(home) == full
