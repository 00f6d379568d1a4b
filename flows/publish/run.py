"""A run: what it works with, and how it is entered in the ledger."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property
from typing import Any, Protocol

from slowwave import __version__ as VERSION  # noqa: N812 - a constant here
from slowwave.flows.engines.settings import EngineSettings
from slowwave.flows.imports.connections import Imported
from slowwave.flows.kernel.code_hash import code_hash
from slowwave.flows.kernel.errors import UserError, WrongUsageError
from slowwave.flows.kernel.lock import note_run
from slowwave.flows.kernel.processes import give_back
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.stage_costs import StageCosts, heard_by
from slowwave.flows.kernel.terminal import terminal_safe
from slowwave.flows.kernel.times import new_run_id, utc_now
from slowwave.flows.lake.current import current_run
from slowwave.flows.lake.files import check_format
from slowwave.flows.lake.lake import Lake, make_lake
from slowwave.flows.lake.lifetime.horizons import read_horizon
from slowwave.flows.lake.run_ledger import compact_runs, has_ended, remove_run, write_run
from slowwave.flows.land.land import LandingReport
from slowwave.transforms.core.vocabularies import ROW_FATES, RunKind
from slowwave.transforms.params import Params


class Progress(Protocol):
    """Told what is being done: a label, how much is done, and of how much (0: not known)."""

    def __call__(self, label: str, done: int, total: int) -> None:
        """Tell it."""
        ...


def no_progress(label: str, done: int, total: int) -> None:
    """Say nothing."""


def _call(_name: str, function: Callable[..., Any], *arguments: Any) -> Any:  # noqa: ANN401 - any stage
    return function(*arguments)


@dataclass
class Run:
    """One run and what it works with."""

    settings: Settings
    kind: RunKind
    lake: Lake
    params: Params
    started_at: datetime
    run_id: str
    progress: Progress = no_progress
    call: Callable[..., Any] = _call
    engine: EngineSettings = field(default_factory=EngineSettings)
    imported: Imported | None = None  # None: the connected sources have not been looked at
    landed: LandingReport = field(default_factory=LandingReport)
    costs: StageCosts = field(default_factory=StageCosts)
    reached: str = ""  # the stage that the ledger says it is at, as long as it has not ended

    def ledger_row(self, status: str, **known: Any) -> dict[str, Any]:  # noqa: ANN401 - columns of runs
        """The run as a row of `runs`."""
        counts = {name: self.landed.total(name) for name in ROW_FATES}
        return {
            "run_id": self.run_id,
            "kind": self.kind,
            "status": status,
            "as_of": None,
            "started_at": self.started_at,
            "finished_at": utc_now(),
            "message": None,
            **counts,
            "days_count": 0,
            "days_built_count": 0,
            "input_hash": None,
            "params_hash": self.params.params_hash(),
            "code_hash": code_hash(),
            "version": VERSION,
            "methods": self.params.methods(),
            "table_hashes": [],
            "texts_from": self._texts_from,
            **known,
        }

    @cached_property
    def _texts_from(self) -> date | None:
        reached = read_horizon(self.lake.root, "texts")
        return reached.before if reached else None

    def begin(self, stage: str) -> None:
        """Enter the run in the ledger as started, before it does anything: what stops it cannot do so unseen."""
        self._reach(stage)
        note_run(self.settings, self.run_id)

    def stage(self, name: str, function: Callable[..., Any], *arguments: Any) -> Any:  # noqa: ANN401 - any stage
        """Do one stage, entered in the ledger before it begins."""
        if self.reached and self.reached != name:
            self._reach(name)
        with heard_by(self.costs):
            done = self.call(name, function, *arguments)
        give_back()
        return done

    def _reach(self, stage: str) -> None:
        row = self.ledger_row("started", finished_at=None, message=f"{stage}, since {utc_now():%Y-%m-%d %H:%M:%S}Z")
        write_run(self.lake, row)
        self.reached = stage

    def record(self, row: dict[str, Any]) -> None:
        """Write into the ledger how the run ended."""
        write_run(self.lake, row)
        self.reached = ""
        compact_runs(self.lake, self.started_at)

    def forget(self) -> None:
        """Take a run that had nothing to do out of the ledger."""
        remove_run(self.lake, self.started_at, self.run_id)
        self.reached = ""


def start_run(
    settings: Settings, kind: RunKind, progress: Progress = no_progress, call: Callable[..., Any] = _call
) -> Run:
    """Open the lake and name the run. The caller holds the writer lock.

    Raises UserError when the lake is of a newer format or gone, or the params are not usable; a landing reads none of
    them, and goes on with a warning.
    """
    code_hash()  # of the code that is loaded now: it may be upgraded before the night is over
    _require_same_lake(settings)
    started_at = utc_now()
    lake = make_lake(settings.lake_folder)
    params = _params_of_landing(settings) if kind == "land" else settings.params()
    run = Run(settings, kind, lake, params, started_at, new_run_id(started_at), progress, call)
    _repair_ledger(run)
    return run


def _params_of_landing(settings: Settings) -> Params:
    """The params of the home; the defaults where they cannot be used, so that rows land all the same."""
    try:
        return settings.params()
    except WrongUsageError as error:
        sys.stderr.write(f"slowwave: {terminal_safe(str(error))}; rows land, `slowwave nightly` needs it mended\n")
        return Params()


def _require_same_lake(settings: Settings) -> None:
    """A lake that is not mounted looks like one that begins: rows that landed there would be hidden by the mount."""
    current = current_run(settings)
    if current is not None and check_format(settings.lake_folder) is None:
        message = (
            f"there is no lake in {settings.lake}, and {current} was published from one: mount it, or set "
            f"SLOWWAVE_LAKE (nothing was changed); to begin anew, move {settings.serving} away"
        )
        raise UserError(message)


def _repair_ledger(run: Run) -> None:
    """A run killed between its swap and its ledger entry is entered from the file it published."""
    import duckdb

    current = current_run(run.settings)
    if current is None or has_ended(run.lake, current.stem):
        return
    try:
        with duckdb.connect(current, read_only=True) as connection:
            rows = connection.sql("SELECT * FROM runs WHERE run_id = $run_id", params={"run_id": current.stem}).pl()
    except duckdb.Error:  # damaged: the next publish replaces it
        return
    if rows.height:
        write_run(run.lake, rows)
