"""`slowwave backup` and `slowwave restore`: what comes back is what was there, but for what was erased since."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import zstandard
from bucket_server import environment, make_bucket, s3_server
from damaged_homes import find_in, hash_tables
from erasable_home import ASKED, KEPT, SESSION, USER, ada, erasable, places
from shared_homes import plain_home
from small_home import SmallHome, interaction, memory

LATER = datetime(2026, 4, 1)  # noqa: DTZ001 - times are naive and hold UTC everywhere
WORDS = (USER, SESSION, ASKED, KEPT, "ended-ada", "flagstone")


@pytest.fixture
def home(tmp_path: Path) -> SmallHome:
    return plain_home(tmp_path / "home")


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "backups"


def backed_up(home: SmallHome, target: Path | str, *options: str) -> dict[str, Any]:
    done = home.ask("backup", str(target), "--format", "json", *options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def restored(home: SmallHome, target: Path | str, *options: str, name: str = "again") -> SmallHome:
    again = SmallHome(home.folder.with_name(name))
    done = home.ask("restore", str(target), "--to", str(again.folder), *options)
    assert done.returncode == 0, done.stderr
    return again


def blobs(target: Path) -> list[Path]:
    return [path for path in (target / "files").rglob("*") if path.is_file() and not path.name.startswith(".")]


def manifests(target: Path) -> list[Path]:
    return sorted((target / "backups").glob("*.json"))


def refused(home: SmallHome, *arguments: str) -> tuple[int, str]:
    done = home.ask(*arguments)
    assert done.stdout == ""
    return done.returncode, done.stderr


def test_a_restored_home_is_what_it_was_and_its_next_night_changes_no_value(home: SmallHome, target: Path) -> None:
    home.settings.params_file.write_text("")
    (home.settings.mappings).mkdir()
    (home.settings.mappings / "app.toml").write_text("")
    made = backed_up(home, target)
    again = restored(home, target)
    assert hash_tables(again) == hash_tables(home)
    left_out = ("reports", "prefect", "serving/.digests", "inbox")
    assert again.contents().keys() >= {name for name in home.contents() if not name.startswith(left_out)}
    assert made["files"] == made["new_files"] + made["files"] - len(blobs(target))
    assert find_in(again) == []
    for one in (home, again):
        one.land(memory("m2", changed_at="2026-03-20T00:00:00Z"), interaction("i2", memories_used=["m1", "m2"]))
        one.nightly(LATER)
    assert hash_tables(again) == hash_tables(home)


def test_a_second_backup_copies_only_what_is_new(home: SmallHome, target: Path) -> None:
    first = backed_up(home, target)
    assert backed_up(home, target)["new_files"] == 0
    home.land(memory("m2"))
    third = backed_up(home, target)
    assert 0 < third["new_files"] <= 3
    assert manifests(target)[0].stem == first["id"]
    said = home.ask("restore", str(target), "--to", str(target.with_name("again"))).stdout
    assert f"next         SLOWWAVE_HOME={target.with_name('again')} slowwave nightly\n" in said
    listed = json.loads(home.ask("backup", str(target), "--list", "--format", "json").stdout)
    assert [one["files"] for one in listed] == [first["files"], first["files"], third["files"]]
    assert len(home.ask("backup", str(target), "--list").stdout.splitlines()) == 3


def test_old_backups_go_with_the_bytes_that_only_they_used(home: SmallHome, target: Path) -> None:
    home.settings.params_file.write_text("# of the first\n")
    first = backed_up(home, target)
    home.settings.params_file.unlink()
    second = backed_up(home, target, "--keep", "1")
    assert second["removed"] == [first["id"]]
    assert not any(path.read_bytes() == b"# of the first\n" for path in blobs(target))
    assert hash_tables(restored(home, target)) == hash_tables(home)


def test_an_older_backup_is_restored_by_its_id(home: SmallHome, target: Path) -> None:
    first, before = backed_up(home, target), hash_tables(home)
    home.land(memory("m2"))
    home.nightly(LATER)
    backed_up(home, target)
    assert hash_tables(restored(home, target, "--backup", first["id"])) == before


@pytest.mark.slow
@pytest.mark.parametrize("is_known_by", ["the newest backup", "the home"])
def test_what_was_erased_since_does_not_come_back(tmp_path: Path, target: Path, is_known_by: str) -> None:
    home = erasable(SmallHome(tmp_path / "home"))
    first = backed_up(home, target)
    done = home.ask("lake", "erase", "--user", USER, "--yes")
    assert done.returncode == 0, done.stderr
    if is_known_by == "the newest backup":
        backed_up(home, target)
        home.folder.rename(tmp_path / "lost")
    again = restored(home, target, "--backup", first["id"])
    lost = SmallHome(tmp_path / "lost") if is_known_by == "the newest backup" else home
    shutil.rmtree(again.settings.inbox)  # a delivery that had not landed; it is refused, as the one below
    assert places(again.folder, *WORDS) == []
    for one in (again, lost):
        one.nightly(LATER)
    assert hash_tables(again) == hash_tables(lost)
    report = again.land(ada(1))
    assert (report.total("accepted"), report.total("quarantined")) == (0, 1)
    assert find_in(again) == []
    other = plain_home(tmp_path / "other")
    assert other.ask("lake", "erase", "--memory", "m1", "--yes").returncode == 0
    assert not (
        restored(other, target, "--backup", first["id"], name="of-other").folder / "lake" / "erased"
    ).exists() or (is_known_by == "the newest backup")


def test_a_home_with_anything_in_it_is_not_overwritten(home: SmallHome, target: Path, tmp_path: Path) -> None:
    backed_up(home, target)
    before = home.contents()
    code, said = refused(home, "restore", str(target))
    assert (code, "is not empty" in said) == (1, True)
    assert home.contents() == before
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "note.txt").touch()
    code, said = refused(home, "restore", str(target), "--to", str(tmp_path / "other"))
    assert (code, "'note.txt'" in said) == (1, True)
    assert refused(home, "restore", str(target), "--to", str(tmp_path / "other" / "note.txt"))[0] == 1


def test_a_place_that_cannot_hold_backups_is_refused(home: SmallHome, target: Path, tmp_path: Path) -> None:
    for place in (home.folder, home.folder / "inside", home.folder / "lake", tmp_path):
        code, said = refused(home, "backup", str(place))
        assert (code, "what takes one takes both" in said) == (2, True), said
    for place in ("ftp://there", " "):
        assert refused(home, "backup", place)[0] == 2
    (tmp_path / "link").symlink_to(home.folder)
    assert refused(home, "backup", str(tmp_path / "link" / "backups"))[0] == 2
    target.mkdir()
    (target / "photo.jpg").touch()
    code, said = refused(home, "backup", str(target / "photo.jpg"))
    assert (code, "name a folder" in said) == (2, True)
    code, said = refused(home, "backup", str(target))
    assert (code, "name an empty place" in said) == (1, True)
    code, said = refused(home, "restore", str(target), "--to", str(tmp_path / "again"))
    assert (code, "there is no backup" in said) == (1, True)
    (target / "slowwave-backups.json").write_text("{}")
    assert refused(home, "backup", str(target))[0] == 1
    assert [path.name for path in target.iterdir() if path.name != ".lock"] == [
        "photo.jpg",
        "slowwave-backups.json",
    ] or ({path.name for path in target.iterdir()} == {".lock", "photo.jpg", "slowwave-backups.json"})


def test_backups_of_two_homes_are_not_mixed(home: SmallHome, target: Path, tmp_path: Path) -> None:
    backed_up(home, target)
    other = SmallHome(tmp_path / "other")
    other.land(memory("m9"))
    code, said = refused(other, "backup", str(target))
    assert (code, "shares no file with this home" in said) == (1, True)
    assert len(manifests(target)) == 1


def test_a_damaged_backup_is_told_and_not_brought_back(home: SmallHome, target: Path, tmp_path: Path) -> None:
    backed_up(home, target)
    path = max(blobs(target), key=lambda one: one.stat().st_size)
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 1
    path.write_bytes(raw)
    again = str(tmp_path / "again")
    code, said = refused(home, "restore", str(target), "--to", again)
    assert (code, "is damaged, which" in said) == (1, True)
    code, said = refused(SmallHome(tmp_path / "again"), "nightly", "--plan")
    assert (code, "is being restored" in said) == (1, True)
    path.unlink()
    code, said = refused(home, "restore", str(target), "--to", again)
    assert (code, "is gone, which" in said) == (1, True)
    os.utime(home.settings.current)  # it is read again, and then copied
    backed_up(home, target)
    assert path.exists()
    (listed,) = manifests(target)[:1]
    assert home.ask("restore", str(target), "--to", again, "--backup", listed.stem).returncode == 0


def test_a_name_that_leads_out_of_a_home_is_refused(home: SmallHome, target: Path, tmp_path: Path) -> None:
    backed_up(home, target)
    (path,) = (target / "backups").glob("*.files")
    files = json.loads(zstandard.decompress(path.read_bytes()))
    for name in ("../outside", "/etc/passwd", "lake/../../x", "inbox/", ".bashrc", "lake/a\x00b"):
        packed = zstandard.compress(json.dumps({**files, name: next(iter(files.values()))}).encode())
        path.write_bytes(packed)
        header = json.loads(manifests(target)[0].read_text())
        header["list_sha256"] = hashlib.sha256(packed).hexdigest()
        manifests(target)[0].write_text(json.dumps(header))
        code, said = refused(home, "restore", str(target), "--to", str(tmp_path / "again"))
        assert (code, "is of no home" in said) == (1, True), name
    assert not (tmp_path / "again").exists()


def _rewrite_listing(target: Path, change: Callable[[dict[str, Any], dict[str, Any]], object]) -> None:
    """Let `change` edit what the only backup says of itself and of its files, as a person might with care."""
    (listing,), (said,) = (target / "backups").glob("*.files"), manifests(target)
    header, files = json.loads(said.read_text()), json.loads(zstandard.decompress(listing.read_bytes()))
    change(header, files)
    packed = zstandard.compress(json.dumps(files).encode())
    listing.write_bytes(packed)
    said.write_text(json.dumps({**header, "list_sha256": hashlib.sha256(packed).hexdigest()}))


@pytest.mark.parametrize("at", range(4))
def test_an_entry_that_no_backup_wrote_is_told_and_the_next_backup_is_made(
    home: SmallHome, target: Path, tmp_path: Path, at: int
) -> None:
    backed_up(home, target)

    def change(_: dict[str, Any], files: dict[str, Any]) -> None:
        files["lake/FORMAT"][at] = 10**40 if at else None

    _rewrite_listing(target, change)
    code, said = refused(home, "restore", str(target), "--to", str(tmp_path / "again"))
    assert (code, "is damaged or gone" in said) == (1, True)
    assert not (tmp_path / "again").exists()
    backed_up(home, target)
    assert hash_tables(restored(home, target)) == hash_tables(home)


def test_a_backup_without_a_lake_is_told(home: SmallHome, target: Path, tmp_path: Path) -> None:
    backed_up(home, target)
    _rewrite_listing(target, lambda _, files: files.pop("lake/FORMAT"))
    code, said = refused(home, "restore", str(target), "--to", str(tmp_path / "again"))
    assert (code, "no lake" in said) == (1, True)


@pytest.mark.parametrize("change", [{"bytes": 10**400}, {"bytes": "many"}, {"is_sealed": 0}, {"run_id": []}])
def test_what_no_backup_says_of_itself_is_told(home: SmallHome, target: Path, change: dict[str, Any]) -> None:
    backed_up(home, target)
    _rewrite_listing(target, lambda header, _: header.update(change))
    for command in (("restore", str(target)), ("backup", str(target)), ("backup", str(target), "--list")):
        code, said = refused(home, *command)
        assert (code, "is damaged: remove it" in said, next(iter(change)) in said) == (1, True, True)


@pytest.mark.parametrize("damage", ["truncated", "gone", "of no file"])
def test_a_damaged_list_of_uses_removes_no_bytes(home: SmallHome, target: Path, damage: str) -> None:
    backed_up(home, target)
    before = blobs(target)
    (path,) = (target / "backups").glob("*.uses")
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:20] if damage == "truncated" else zstandard.compress(b""))
    code, said = refused(home, "backup", str(target), "--keep", "1")
    assert (code, f"{path.name} is damaged or gone" in said) == (1, True)
    assert blobs(target) == before
    assert hash_tables(restored(home, target)) == hash_tables(home)
    path.with_suffix(".json").unlink()
    backed_up(home, target)


def test_the_newest_backup_stays_when_the_clock_was_set_back(home: SmallHome, target: Path) -> None:
    backed_up(home, target)
    for path in list((target / "backups").iterdir()):
        path.rename(path.with_name(f"20990101T000000000000-abcd{path.suffix}"))
    home.settings.params_file.write_text("# of the second\n")
    made = backed_up(home, target, "--keep", "1")
    assert made["removed"] == ["20990101T000000000000-abcd"]
    assert restored(home, target).settings.params_file.read_text() == "# of the second\n"


def test_settings_that_are_a_link_come_back_as_a_file(home: SmallHome, target: Path, tmp_path: Path) -> None:
    (tmp_path / "kept-elsewhere.toml").write_text("[landing]\n")
    home.settings.settings_file.symlink_to(tmp_path / "kept-elsewhere.toml")
    done = home.run("backup", str(target))  # it had no end
    assert done.returncode == 0, done.stderr
    again = restored(home, target)
    assert not again.settings.settings_file.is_symlink()
    assert again.settings.settings_file.read_text() == "[landing]\n"


def test_hostile_names_of_deliveries_come_back(home: SmallHome, target: Path) -> None:
    names = [
        b"\xff\xfe.jsonl",
        b"a\nb.jsonl",
        b"<b>x&.jsonl",
        b"--help.jsonl",
        b"'; DROP.jsonl",
        "ä ö.jsonl".encode(),
    ]
    home.settings.inbox.mkdir(exist_ok=True)
    for at, name in enumerate(names):
        (home.settings.inbox / os.fsdecode(name)).write_text(f'{{"a": {at}}}\n')
    backed_up(home, target)
    again = restored(home, target)
    assert sorted(os.fsencode(path.name) for path in again.settings.inbox.iterdir()) == sorted(names)


def test_two_backups_to_one_place_exclude_each_other(home: SmallHome, target: Path) -> None:
    backed_up(home, target)
    with (target / ".lock").open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        code, said = refused(home, "backup", str(target))
    assert (code, "another backup is being made" in said) == (1, True)


def test_a_place_that_cannot_be_written_is_one_sentence(home: SmallHome, target: Path) -> None:
    target.mkdir()
    target.chmod(0o555)
    before: list[str] = []
    if os.geteuid() == 0:
        drop = "-dac_override,-dac_read_search"
        before = [str(shutil.which("setpriv")), f"--bounding-set={drop}", f"--inh-caps={drop}"]
    try:
        done = home.run("backup", str(target), before=before)
    finally:
        target.chmod(0o755)
    assert done.returncode == 1
    assert done.stderr == f"slowwave: Permission denied ({target}/.lock)\n"


def test_a_sealed_backup_is_read_with_its_key_alone(home: SmallHome, target: Path, tmp_path: Path) -> None:
    pyrage = pytest.importorskip("pyrage")
    mine, other = pyrage.x25519.Identity.generate(), pyrage.x25519.Identity.generate()
    for name, key in (("mine", mine), ("other", other)):
        (tmp_path / name).write_text(f"# created: today\n# public key: {key.to_public()}\n{key}\n")
    made = backed_up(home, target, "--age", str(mine.to_public()))
    assert backed_up(home, target, "--age", str(mine.to_public()))["new_files"] == 0
    assert made["is_sealed"]
    assert all(path.read_bytes().startswith(b"age-encryption.org/v1") for path in blobs(target))
    again = str(tmp_path / "again")
    for options, told in (((), "--identity FILE"), (("--identity", str(tmp_path / "other")), "cannot be read with")):
        code, said = refused(home, "restore", str(target), "--to", again, *options)
        assert (code, told in said) == (1, True)
    assert refused(home, "backup", str(target), "--age", "age1wrong")[0] == 2
    for file in ("~nobody-of-that-name/key", "a\x00b"):
        code, said = refused(home, "restore", str(target), "--to", again, "--identity", file)
        assert (code, "cannot be read" in said) == (1, True)
    assert hash_tables(restored(home, target, "--identity", str(tmp_path / "mine"))) == hash_tables(home)


# ------------------------------------------------------------------------------------------------------------- faults


def _start(home: SmallHome, *arguments: str, prepare: Callable[[], None] | None = None) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "slowwave.flows.cli.main", *arguments],
        env={**os.environ, "SLOWWAVE_HOME": str(home.folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=prepare,  # noqa: PLW1509 - no thread of this process is at work
    )


def _kill_when(process: subprocess.Popen[str], is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while process.poll() is None and not is_so() and time.monotonic() < deadline:
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.communicate()


@pytest.mark.slow
@pytest.mark.parametrize("files", [0, 1, 20, 60])
def test_after_a_killed_backup_the_next_goes_on(home: SmallHome, target: Path, files: int) -> None:
    _kill_when(_start(home, "backup", str(target)), lambda: len(blobs(target)) > files)
    there = len(blobs(target))
    were = len(manifests(target))
    made = backed_up(home, target)
    assert made["new_files"] == len(blobs(target)) - there
    assert len(manifests(target)) == were + 1
    assert hash_tables(restored(home, target)) == hash_tables(home)


@pytest.mark.slow
@pytest.mark.parametrize("files", [0, 1, 8])
def test_after_a_killed_restore_the_home_is_refused_and_the_next_goes_on(
    home: SmallHome, target: Path, tmp_path: Path, files: int
) -> None:
    backed_up(home, target)
    again = SmallHome(tmp_path / "again")
    outside = set(Path(tempfile.gettempdir()).glob("slowwave-restore-*"))
    _kill_when(
        _start(home, "restore", str(target), "--to", str(again.folder)),
        lambda: len(list((again.folder / "lake").rglob("*.parquet"))) > files,
    )
    if (again.folder / "lake" / "FORMAT").read_text().startswith("restoring"):
        code, said = refused(again, "nightly", "--plan")
        assert (code, "run `slowwave restore` again" in said) == (1, True)
        assert restored(home, target).folder == again.folder
    assert set(Path(tempfile.gettempdir()).glob("slowwave-restore-*")) <= outside
    assert not (again.folder / ".restore").exists()
    assert hash_tables(again) == hash_tables(home)
    assert find_in(again) == []


@pytest.mark.slow
def test_a_full_disk_is_one_sentence_and_leaves_no_backup(home: SmallHome, target: Path) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    process = _start(home, "backup", str(target), prepare=limit)
    told, said = process.communicate()
    assert (process.returncode, told) == (1, "")
    assert said.startswith("slowwave: File too large (")
    assert len(said.splitlines()) == 1
    assert manifests(target) == []
    backed_up(home, target)
    again = str(home.folder.with_name("again"))
    process = _start(home, "restore", str(target), "--to", again, prepare=limit)
    told, said = process.communicate()
    assert (process.returncode, told, len(said.splitlines())) == (1, "", 1)
    assert hash_tables(restored(home, target)) == hash_tables(home)


@pytest.mark.slow
def test_a_backup_made_while_a_night_runs_is_whole(home: SmallHome, target: Path) -> None:
    rows = [interaction(f"n{at}", created_at=f"2026-03-{3 + at % 20:02}T09:00:00Z") for at in range(2000)]
    home.land(*rows[:1000])
    home.settings.inbox.mkdir(exist_ok=True)
    for at in range(20):
        lines = "".join(f"{json.dumps(row)}\n" for row in rows[1000 + 50 * at :][:50])
        (home.settings.inbox / f"late-{at}.jsonl").write_text(lines)
    night = _start(home, "nightly", "--as-of", "2026-04-01")
    made = []
    while night.poll() is None:
        made.append(backed_up(home, target)["id"])
    night.communicate()
    assert night.returncode == 0
    assert len(made) > 3
    whole = hash_tables(home)
    for at, one in enumerate(made[:: max(1, len(made) // 6)]):
        again = restored(home, target, "--backup", one, name=f"again-{at}")
        again.nightly(LATER)
        assert hash_tables(again) == whole, one


@pytest.mark.slow
def test_a_bucket_holds_backups_and_a_lake_in_a_bucket_is_backed_up(
    home: SmallHome, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with s3_server() as port:
        make_bucket(port, "kept")
        for name, value in environment(port, "").items():
            monkeypatch.setenv(name, value)
        backed_up(home, "s3://kept/home")
        assert backed_up(home, "s3://kept/home")["new_files"] == 0
        again = restored(home, "s3://kept/home")
        assert hash_tables(again) == hash_tables(home)
        far = SmallHome(home.folder.with_name("far"))
        monkeypatch.setenv("SLOWWAVE_LAKE", "s3://kept/lake")
        assert refused(home, "backup", "s3://kept/lake/backups")[0] == 2
        assert far.ask("restore", "s3://kept/home").returncode == 0
        assert find_in(far) == []
        far.nightly(LATER)
        assert far.ask("backup", str(target)).returncode == 0
        monkeypatch.delenv("SLOWWAVE_LAKE")
        near = restored(far, target, name="near")
        home.nightly(LATER)
        assert hash_tables(near) == hash_tables(home)
