"""Homes with one file damaged, drawn by a seed; as a program, how `verify` and what it says to do fare with many.

python damaged_homes.py FOLDER [HOMES]
"""

from __future__ import annotations

import os
import random
import shutil
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import duckdb
import polars as pl
from erasable_home import AS_OF, erasable
from small_home import SmallHome

from slowwave.flows.backup.verify import find_damage
from slowwave.flows.lake.damage import Damage
from slowwave.flows.lake.lake import Lake
from slowwave.flows.publish.serving import table_hash
from slowwave.transforms.graph import PUBLISHED

PROBLEMS = ("damaged", "missing", "truncated", "swapped", "foreign")
SORTS = {
    "landed": "lake/[iom]*s/day=*/*.parquet",
    "decisions": "lake/decisions/day=*/*.parquet",
    "evidence": "lake/evidence/*/day=*/*.parquet",
    "ledger": "lake/r*/day=*/*.parquet",
    "quarantine": "lake/quarantine/**/*",
    "serving": "serving/runs/*.duckdb",
}


@dataclass(frozen=True)
class DrawnDamage:
    """What was done to a file of a home, by its path there; of two that were swapped `other` is the second."""

    problem: str
    sort: str
    path: str
    other: str = ""


def damage_home(folder: Path, rng: random.Random) -> DrawnDamage:
    """Damage one file of a home."""
    while True:
        problem, sort = rng.choice(PROBLEMS), rng.choice(list(SORTS))
        files = sorted(path for path in folder.glob(SORTS[sort]) if path.is_file())
        if len(files) > (problem == "swapped"):
            break
    path = rng.choice(files)
    status = path.stat()
    other = ""
    if problem == "damaged":
        raw = bytearray(path.read_bytes())
        raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
        path.write_bytes(raw)
    elif problem == "truncated":
        os.truncate(path, rng.randrange(status.st_size))
    elif problem == "missing":
        path.unlink()
    elif problem == "foreign":
        name = rng.choice(["notes.txt", "part-0.parquet", "0" * 32 + ".bak"])
        (path.parent / name).write_bytes(rng.randbytes(100))
        path = path.parent / name
    else:
        second = rng.choice([one for one in files if one != path])
        aside = path.with_name("aside")
        path.rename(aside)
        second.rename(path)
        aside.rename(second)
        other = second.relative_to(folder).as_posix()
        if path.read_bytes() == second.read_bytes():
            return damage_home(folder, rng)
    if problem in {"damaged", "truncated"}:  # a disk changes no time; who writes into a file does
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + rng.choice([0, 0, 3600 * 10**9])))
    return DrawnDamage(problem, sort, path.relative_to(folder).as_posix(), other)


def find_in(home: SmallHome) -> list[Damage]:
    """Return what `verify` finds."""
    return list(find_damage(home.settings, Lake(home.settings.lake_folder)))


def hash_tables(home: SmallHome) -> dict[str, str]:
    """Return the hashes of all published tables but those that say which run it was."""
    with duckdb.connect(home.settings.current, read_only=True) as connection:
        return {table.name: table_hash(connection, table.name) for table in PUBLISHED}


def mend_home(home: SmallHome, found: list[Damage], target: Path) -> SmallHome:
    """Do what `verify` says; return the home that is whole then."""
    if any(one.mend == "backup" for one in found):
        again = SmallHome(home.folder.with_name(f"{home.folder.name}-again"))
        done = home.ask("restore", str(target), "--to", str(again.folder))
        assert done.returncode == 0, done.stderr
        return again
    for one in found:
        if one.mend == "owner":
            (home.folder / one.path).unlink()
    assert home.ask("verify", "--repair").returncode == bool(any(one.mend == "night" for one in found))
    home.nightly(AS_OF, full=True)
    return home


def _grade(folder: Path, homes: int) -> None:
    made = erasable(SmallHome(folder / "home"))
    made.nightly(AS_OF, full=True)
    whole = hash_tables(made)
    assert find_in(made) == []
    assert made.ask("backup", str(folder / "backups")).returncode == 0
    tally: dict[str, Counter[str]] = {}
    seconds = 0.0
    for seed in range(homes):
        home = SmallHome(folder / f"damaged-{seed}")
        shutil.copytree(made.folder, home.folder, symlinks=True)
        drawn = damage_home(home.folder, random.Random(seed))
        began = time.perf_counter()
        found = find_in(home)
        seconds += time.perf_counter() - began
        ours = [one for one in found if one.path in {drawn.path, drawn.other}]
        counts = tally.setdefault(f"{drawn.sort} {drawn.problem}", Counter())
        counts.update(homes=1, found=bool(ours), named=any(one.problem == drawn.problem for one in ours))
        counts["false alarms"] += len([one for one in found if one not in ours])
        try:
            again = mend_home(home, found, folder / "backups")
            counts["repaired"] += find_in(again) == [] and hash_tables(again) == whole
        except (Exception, pl.exceptions.PolarsError) as error:  # noqa: BLE001 - it is counted
            print(f"seed {seed}: {drawn}: {type(error).__name__} {error}")
        if not ours or len(found) > len(ours):
            print(f"seed {seed}: {drawn}: {found}")
        for one in folder.glob(f"damaged-{seed}*"):
            shutil.rmtree(one)
    names = ("homes", "found", "named", "repaired", "false alarms")
    print(f"{'':24}" + "".join(f"{name:>13}" for name in names))
    for kind, counts in sorted(tally.items()):
        print(f"{kind:24}" + "".join(f"{counts[name]:13}" for name in names))
    print(f"{'all':24}" + "".join(f"{sum(counts[name] for counts in tally.values()):13}" for name in names))
    print(f"{1000 * seconds / homes:.0f} ms for each")


if __name__ == "__main__":
    _grade(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 100)
