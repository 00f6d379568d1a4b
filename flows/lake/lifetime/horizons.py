"""The horizon of each rule of `[retention]`: the day before which something of the lake has expired.

`let_go/RULE.json` is declared before anything goes, and `let_go/RULE.done.json` says that all of it went: what has
changed since is looked at again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Literal

from slowwave.flows.kernel.storage.storage import storage_of
from slowwave.flows.kernel.store import write_durably

Rule = Literal["texts", "evidence"]
FOLDER = "let_go"


@dataclass(frozen=True)
class Horizon:
    """`before`: the first day of which nothing went. `as_of`: when evidence of the others was retained."""

    before: date
    as_of: datetime


@dataclass(frozen=True)
class CompletedRetention:
    """What went in full: days before `before` but for `again`, as their files were `at` that time (since 1970)."""

    before: date
    again: frozenset[date]
    at: float


def read_horizon(root: Path, rule: Rule) -> Horizon | None:
    """Return how far a rule went; None where nothing expired by it. Raises OSError where it cannot be read."""
    try:
        stated = json.loads(storage_of(root).read(_path(root, rule)))
    except FileNotFoundError:
        return None
    return Horizon(date.fromisoformat(stated["before"]), datetime.fromisoformat(stated["as_of"]))


def declare_horizon(root: Path, rule: Rule, reached: Horizon) -> None:
    """Write down how far a rule goes, before anything does: never less far than before."""
    before = read_horizon(root, rule)
    if before is not None:
        reached = Horizon(max(before.before, reached.before), max(before.as_of, reached.as_of))
    if reached != before:
        _write(_path(root, rule), {"before": reached.before.isoformat(), "as_of": reached.as_of.isoformat()})


def read_completed_retention(root: Path, rule: Rule) -> CompletedRetention | None:
    """Return what went in full; None where nothing did."""
    path = _path(root, f"{rule}.done")
    storage = storage_of(path)
    try:
        stated = json.loads(storage.read(path))
        at = storage.changed_at(path)
    except FileNotFoundError:
        return None
    again = frozenset(date.fromisoformat(day) for day in stated["again"])
    return CompletedRetention(date.fromisoformat(stated["before"]), again, at)


def note_completed(root: Path, rule: Rule, before: date, again: Sequence[date]) -> None:
    """Write down that all went of the days before `before`, but for some days that have to be looked at again."""
    days = sorted({day.isoformat() for day in again})
    _write(_path(root, f"{rule}.done"), {"before": before.isoformat(), "again": days})


def _path(root: Path, name: str) -> Path:
    return root / FOLDER / f"{name}.json"


def _write(path: Path, stated: dict[str, object]) -> None:
    text = json.dumps(stated)
    write_durably(path, lambda aside: aside.write_text(text, encoding="utf-8"))
