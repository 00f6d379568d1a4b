"""`slowwave verify`: it finds what is wrong, says who mends it, and finds nothing where nothing is."""

from __future__ import annotations

import fcntl
import json
import os
import random
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from damaged_homes import DrawnDamage, damage_home, find_in, hash_tables, mend_home
from erasable_home import AS_OF, USER, erasable
from released_homes import RELEASES, released_home
from shared_homes import plain_home
from small_home import SmallHome, memory

from slowwave.flows.backup import verify
from slowwave.flows.lake.digests import NAME

_SEEDS = range(12)


def test_an_unharmed_home_has_nothing_wrong(tmp_path: Path) -> None:
    home = plain_home(tmp_path / "home")
    done = home.ask("verify")
    assert (done.returncode, done.stdout) == (0, f"{home.folder}: nothing is wrong\n")
    home.land(memory("m2"))
    assert find_in(home) == []
    (home.folder / "lake" / NAME).unlink()
    (home.folder / "serving" / NAME).unlink()
    assert find_in(home) == []


def test_a_flipped_byte_of_a_landed_file_needs_the_backup(tmp_path: Path) -> None:
    home = plain_home(tmp_path / "home")
    (path,) = (home.folder / "lake" / "interactions").rglob("*.parquet")
    raw, status = bytearray(path.read_bytes()), path.stat()
    raw[10] ^= 1
    path.write_bytes(raw)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    done = home.ask("verify")
    assert done.returncode == 1
    assert f"damaged    {path.relative_to(home.folder)}" in done.stdout
    assert "copy it back from a backup" in done.stdout
    (found,) = json.loads(home.ask("verify", "--format", "json").stdout)[0]["findings"]
    assert (found["problem"], found["mend"]) == ("damaged", "backup")


def test_what_no_night_has_noted_is_known_by_its_rows(tmp_path: Path) -> None:
    home = plain_home(tmp_path / "home")
    (other,) = (home.folder / "lake" / "memories").rglob("*.parquet")
    home.land(memory("m3", changed_at="2026-03-05T00:00:00Z"))
    (path,) = set((home.folder / "lake" / "memories").rglob("*.parquet")) - {other}
    shutil.copy(other, path)
    (found,) = [one for one in find_in(home) if one.path == path.relative_to(home.folder).as_posix()]
    assert (found.problem, found.mend) == ("swapped", "backup")


def test_a_night_makes_again_what_was_moved_out_of_its_way(tmp_path: Path) -> None:
    home = plain_home(tmp_path / "home", AS_OF)
    whole = hash_tables(home)
    evidence = next((home.folder / "lake" / "evidence").rglob("*.parquet"))
    for path in (evidence, home.settings.current.resolve()):
        os.truncate(path, 100)
    assert {one.mend for one in find_in(home)} == {"night"}
    done = home.ask("verify", "--repair")
    assert done.returncode == 1
    assert "2 files were moved to" in done.stdout
    home.nightly(AS_OF, full=True)
    assert find_in(home) == []
    assert hash_tables(home) == whole


def test_what_is_moved_may_come_from_another_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disks = [Path("/dev/shm"), Path("/var/tmp")]  # noqa: S108 - one of them is another disk
    other = next((one for one in disks if one.is_dir() and one.stat().st_dev != tmp_path.stat().st_dev), None)
    if other is None:
        pytest.skip("there is no other disk")
    home = plain_home(tmp_path / "home", AS_OF)
    with tempfile.TemporaryDirectory(dir=other) as folder:
        monkeypatch.setenv("SLOWWAVE_LAKE", shutil.move(home.folder / "lake", f"{folder}/lake"))
        evidence = next(home.settings.lake_folder.rglob("evidence/**/*.parquet"))
        os.truncate(evidence, 100)
        done = home.ask("verify", "--repair")
        assert (done.returncode, "1 file was moved to" in done.stdout) == (1, True), done.stderr
        assert not evidence.exists()
        assert len(list(home.settings.damaged.rglob("*.parquet"))) == 1


def test_what_is_repaired_is_looked_for_while_nobody_else_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = plain_home(tmp_path / "home")
    find, locked = verify.find_damage, []

    def find_and_look(*arguments: Any) -> Any:
        with home.settings.lock_file.open("rb") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                locked.append(True)
        return find(*arguments)

    monkeypatch.setattr(verify, "find_damage", find_and_look)
    assert home.ask("verify").returncode == 0
    assert locked == []
    assert home.ask("verify", "--repair").returncode == 0
    assert locked == [True]


def test_several_homes_are_named_and_none_is_an_error(tmp_path: Path) -> None:
    home = plain_home(tmp_path / "home")
    done = home.ask("verify", str(home.folder), str(home.folder), "--format", "json")
    assert (done.returncode, len(json.loads(done.stdout))) == (0, 2)
    done = home.ask("verify", str(tmp_path / "nothing"))
    assert (done.returncode, "there is no home" in done.stderr) == (1, True)
    assert not (tmp_path / "nothing").exists()


def test_a_home_of_an_earlier_release_has_nothing_wrong(tmp_path: Path) -> None:
    for release in RELEASES:
        home = released_home(release, tmp_path / release)
        assert find_in(home) == [], release


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> SmallHome:
    home = erasable(SmallHome(tmp_path_factory.mktemp("damaged") / "home"))
    home.nightly(AS_OF, full=True)
    assert find_in(home) == []
    assert home.ask("backup", str(home.folder.with_name("backups"))).returncode == 0
    return home


@pytest.mark.slow
def test_a_drawn_damage_is_found_named_and_mended(whole: SmallHome, tmp_path: Path) -> None:
    for seed in _SEEDS:
        home = SmallHome(tmp_path / f"home-{seed}")
        shutil.copytree(whole.folder, home.folder, symlinks=True)
        drawn: DrawnDamage = damage_home(home.folder, random.Random(seed))
        found = find_in(home)
        assert {one.path for one in found} <= {drawn.path, drawn.other}, (seed, drawn, found)
        assert drawn.problem in {one.problem for one in found}, (seed, drawn, found)
        again = mend_home(home, found, whole.folder.with_name("backups"))
        assert find_in(again) == [], (seed, drawn)
        assert hash_tables(again) == hash_tables(whole), (seed, drawn)


@pytest.mark.slow
def test_what_is_erased_expired_or_decided_is_no_damage(whole: SmallHome, tmp_path: Path) -> None:
    home = SmallHome(tmp_path / "home")
    shutil.copytree(whole.folder, home.folder, symlinks=True)
    assert home.ask("memory", "pin", "known-of-bob", "--yes").returncode == 0
    assert find_in(home) == []
    home.settings.settings_file.write_text("[retention]\ntexts_days = 1\nevidence_days = 1\nquarantine_days = 1\n")
    home.nightly(full=True)
    assert find_in(home) == []
    home.ask("lake", "retain", "--yes")
    assert find_in(home) == []
    home.settings.settings_file.unlink()
    home.settings.damaged.mkdir()
    (home.settings.damaged / "moved.parquet").write_text(USER)
    assert home.ask("lake", "erase", "--user", USER, "--yes").returncode in {0, 1}
    assert find_in(home) == []
    assert home.ask("sql", "SELECT 1", "--as-of", "2026-03-06").returncode == 0
    assert find_in(home) == []
    assert not any(home.settings.damaged.iterdir())
