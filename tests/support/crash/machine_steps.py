"""What the random machine lets a fork do with a home, by the clock it was given: commands, and looking at it."""

from __future__ import annotations

import hashlib
import shutil
from datetime import datetime
from pathlib import Path
from typing import Any

import crash_home
import polars as pl

from slowwave.flows.decide.decisions import decide_hold
from slowwave.flows.decide.forget import apply_plan, published_plan, restore
from slowwave.flows.decide.review import published_review, review
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.lake.current import current_run
from slowwave.flows.lake.lake import Lake
from slowwave.flows.lake.lifetime.erased_rows import ERASED_REASON
from slowwave.flows.lake.lifetime.horizons import read_horizon
from slowwave.flows.lake.lifetime.raw_files import RETAINED
from slowwave.flows.lake.lifetime.tombstones import is_erasing
from slowwave.flows.lifetime.retention import RetentionRules, apply_retention
from slowwave.flows.nightly.nightly import nightly
from slowwave.flows.nightly.other_nights import ErasureNight, erase, preview_erasure, serving_as_of
from slowwave.flows.nightly.prune import prune
from slowwave.flows.publish.run import start_run
from slowwave.transforms.decisions.effects import HOLD, RELEASE
from slowwave.transforms.decisions.review.changes import REJECT, ReviewCommand
from slowwave.transforms.landing.ledger_tables import Quarantine, RunFiles, Runs
from slowwave.transforms.landing.tables import LANDED

# What a full rebuild starts from; all else in a lake follows from it.
_LANDED = (
    *(table.name for table in LANDED),
    "decisions",
    "moved_keys",
    "FORMAT",
    "let_go",
    *(one.name for one in RETAINED.values()),
)


def night(home: Path, as_of: str = "") -> dict[str, Any]:
    """`slowwave nightly [--as-of]`: how it ended, its as_of, the hashes of what is current then."""
    settings = Settings(home)
    with writer_lock(settings, "nightly"):
        result = nightly(start_run(settings, "nightly"), as_of=_instant(as_of) if as_of else None)
    current = current_run(settings)
    assert current is not None, "a night ended well and nothing is current"
    return {
        "status": result.status,
        "as_of": (result.as_of if result.is_published else _published_as_of(settings, current)).isoformat(),
        "hashes": crash_home.published(current),
    }


def _published_as_of(settings: Settings, current: Path) -> datetime:
    lake = Lake(Path(settings.lake))
    return lake.ledger(Runs).filter(pl.col("run_id") == current.stem)["as_of"].item()


def rebuilt(home: Path, as_of: str) -> dict[str, str]:
    """The hashes of a publish at `as_of` from nothing but what landed, in a lake of its own."""
    aside = home.parent / "rebuilt"
    shutil.rmtree(aside, ignore_errors=True)
    for name in _LANDED:
        source, target = home / "lake" / name, aside / "lake" / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=lambda _, names: [name for name in names if name.startswith(".")])
        elif source.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    if (home / "params.toml").exists():
        shutil.copy2(home / "params.toml", aside / "params.toml")
    return night(aside, as_of)["hashes"]


def replayed(home: Path, as_of: str) -> dict[str, str]:
    """The hashes of what `slowwave sql --as-of` reads."""
    return crash_home.published(serving_as_of(Settings(home), _instant(as_of)))


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=None)  # times are naive and hold UTC everywhere


def act(home: Path, what: str, number: int) -> str:
    """One decision of a person about what is published, if there is something to decide; what was done."""
    settings = Settings(home)
    with writer_lock(settings, what):
        run = start_run(settings, "backfill")
        try:
            if what == "forget apply":
                published = published_plan(settings)
                return str(len(apply_plan(run, published, published.select_rows(limit=1 + number % 3)).changed))
            if what == "forget restore":
                return str(len(restore(run, everything=True).changed))
            if what in {HOLD, RELEASE}:
                return decide_hold(run, what, f"m{number % 7}", None, "for the machine").says
            queue = published_review(settings).queue
            chosen = queue["item_id"].to_list()[number % max(1, queue.height) :][:1]
            return (
                str(len(review(run, ReviewCommand(REJECT), chosen, by="machine", reason=None).decided))
                if chosen
                else "nothing"
            )
        except UserError as error:  # nothing of that kind is there, or the clock is wrong: said in a sentence
            return str(error)


def planned(home: Path, kind: str, name: str) -> dict[str, list[str]]:
    """The ids that erasing this would take, by landed table; none where nothing of it is there."""
    settings = Settings(home)
    try:
        erasure = preview_erasure(settings, Lake(settings.lake_folder), ((kind, name),)).erasure
    except UserError:
        return {}
    return {table: sorted(ids) for table, ids in erasure.keys.items() if ids}


def erased(home: Path, kind: str, name: str) -> list[str]:
    """`slowwave lake erase --yes`: where it still stands."""
    settings = Settings(home)
    with writer_lock(settings, "erase"):
        done = erase(settings, ((kind, name),))
    assert isinstance(done, ErasureNight)
    assert done.night.erased is not None, "an erasure was not ended"
    return done.night.erased.home.remaining


def retained(home: Path, **days: int) -> list[str]:
    """`slowwave lake retain --yes`: the rules that deleted something."""
    settings = Settings(home)
    with writer_lock(settings, "retain"):
        gone = apply_retention(settings, Lake(settings.lake_folder), RetentionRules(**days))
    return [rule for rule, one in gone.items() if one.things]


def pruned(home: Path, keep: int) -> int:
    """`slowwave lake prune`: how many files went."""
    settings = Settings(home)
    with writer_lock(settings, "prune"):
        return prune(settings, Lake(Path(settings.lake)), keep).serving_files


def accounts(home: Path) -> dict[str, Any]:
    """What the lake says of every file and what it holds, to be compared with what was delivered."""
    lake = Lake(home / "lake")
    files, refused = lake.ledger(RunFiles), lake.ledger(Quarantine)
    ids = {}
    for table in LANDED:
        listed = [file for of_day in lake.files(table.name).values() for file in of_day]
        ids[table.name] = lake.scan_rows(table, listed).select(table.key[0]).unique().collect().to_series().to_list()
    folder = home / "lake" / "quarantine" / "files"
    kept = (
        {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("*")}
        if folder.is_dir()
        else {}
    )
    return {
        "unaccounted": files.filter(
            pl.col("delivered") != pl.col("accepted") + pl.col("duplicate") + pl.col("quarantined")
        )["file_hash"].to_list(),
        "files": files["file_hash"].unique().to_list(),
        "refused": refused.select("file_hash", "raw_text", "kept_file").rows(),
        "erased_again": refused.filter(pl.col("reason") == ERASED_REASON)["file_hash"].unique().to_list(),
        "is_erasing": is_erasing(lake.root),
        "exact_from": reached.as_of.isoformat() if (reached := read_horizon(lake.root, "texts")) else "",
        "ids": ids,
        "kept": kept,
        "inbox": {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (home / "inbox").glob("*")},
    }


STEPS = {
    "machine_night": night,
    "machine_rebuilt": rebuilt,
    "machine_replayed": replayed,
    "machine_act": act,
    "machine_planned": planned,
    "machine_erased": erased,
    "machine_pruned": pruned,
    "machine_retained": retained,
    "machine_accounts": accounts,
}
