"""Which publish is meant by a name: a run, or what it is to current."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.terminal import quote_shortened
from slowwave.flows.lake.current import current_run, run_path

_MANY_NAMED = 5


def find_run(settings: Settings, named: str) -> Path:
    """The serving file of a run: its id, the start of its id, `current`, or `previous` (the publish before current).

    Raises UserError when there is none, or more than one.
    """
    if named in {"current", "previous"}:
        current = current_run(settings)
        if current is None:
            message = "nothing is published yet: run `slowwave nightly`"
            raise UserError(message)
        return current if named == "current" else _previous(settings, current)
    there = sorted(path.stem for path in settings.serving.glob("runs/*.duckdb"))
    matching = [run_id for run_id in there if run_id.startswith(named)] if named else []
    if named in matching:
        matching = [named]
    if not matching:
        known = f"; there are {_some(there[::-1])}" if there else ""
        message = f"no serving file of a run {quote_shortened(named)} (it may have been pruned){known}"
        raise UserError(message)
    if len(matching) > 1:
        message = f"{quote_shortened(named)} is the start of {len(matching)} runs: {_some(matching)}"
        raise UserError(message)
    return run_path(settings, matching[0])


def _previous(settings: Settings, current: Path) -> Path:
    # slow to load, which who names a run that is here does not need
    import polars as pl

    from slowwave.flows.lake.lake import Lake
    from slowwave.transforms.landing.ledger_tables import Runs

    lake = Lake(settings.lake_folder)
    lake.check_format()
    published = (
        lake.ledger(Runs)
        .filter(pl.col("status").is_in(["published", "published_incomplete"]))
        .sort("started_at", "run_id")["run_id"]
        .to_list()
    )
    earlier = published[: published.index(current.stem)] if current.stem in published else published
    for run_id in reversed(earlier):
        path = run_path(settings, run_id)
        if path.exists():
            return path
    message = (
        "there is only one publish yet: a nightly run that finds something new makes another"
        if not earlier
        else f"no file of a publish before {current.stem} is left: they are pruned after a while"
    )
    raise UserError(message)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_MANY_NAMED]) + (", …" if len(names) > _MANY_NAMED else "")
