"""The rows of an export by trace: of each trace and observation the version written last."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal

import orjson

from slowwave.transforms.imports.langfuse.cells import is_true, moment, text

Table = Literal["traces", "observations", "scores"]
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001
_FIRST = datetime.min  # noqa: DTZ901 - times are naive and hold UTC everywhere


@dataclass(frozen=True)
class Observed:
    """A row of traces or observations. `number`: where it stands in its unit."""

    number: int
    row: Mapping[str, Any]

    @property
    def id(self) -> str:
        """Its own id."""
        return text(self.row.get("id"))

    @property
    def parent_id(self) -> str:
        """The observation above it; '' at the top."""
        return text(self.row.get("parent_observation_id"))

    @property
    def started(self) -> datetime | None:
        """When it began."""
        return moment(self.row.get("start_time")) or moment(self.row.get("timestamp"))

    @property
    def ended(self) -> datetime | None:
        """When it ended; when it began, where that is not known."""
        return moment(self.row.get("end_time")) or self.started

    @property
    def updated(self) -> datetime | None:
        """When it was written last; releases that did not say so wrote it when it ended."""
        return moment(self.row.get("updated_at")) or self.ended

    @property
    def type(self) -> str:
        """Its kind, such as GENERATION, SPAN or RETRIEVER."""
        return text(self.row.get("type")).upper()

    def version(self) -> tuple[datetime, int, str]:
        """Of two rows with one id the one with the greater version counts, the fuller of two written at one time."""
        filled = sum(value not in (None, "") for value in self.row.values())
        return self.updated or _FIRST, filled, repr(sorted(self.row.items(), key=lambda item: item[0]))


@dataclass
class Trace:
    """A trace: its own row, where that table was exported, and its observations in the order of their start."""

    project_id: str
    trace_id: str
    own: Observed | None = None
    observations: list[Observed] = field(default_factory=list)

    @property
    def root(self) -> Observed | None:
        """The topmost observation: one that has none above it, else one above which none is known."""
        known = {one.id for one in self.observations}
        tops = [one for one in self.observations if is_root(one)]
        tops = tops or [one for one in self.observations if one.parent_id not in known]
        return (tops or self.observations or [None])[0]


def table_of(row: Mapping[str, Any]) -> Table | None:
    """The table that a row is of, by its columns; None where it is of none that is known."""
    if "data_type" in row and "source" in row and "name" in row:
        return "scores"
    if "start_time" in row and "type" in row and "trace_id" in row:
        return "observations"
    return "traces" if "timestamp" in row and "id" in row and "trace_id" not in row else None


def seconds(row: Mapping[str, Any]) -> int:
    """When a row was written, in seconds since 1970; 0 where it does not say."""
    updated = Observed(0, row).updated
    return (updated - _EPOCH) // timedelta(seconds=1) if updated is not None else 0


def is_root(one: Observed) -> bool:
    """Whether an observation is the topmost of its trace."""
    return not one.parent_id or is_true(one.row.get("is_root_observation"))


def traces_of(rows: Iterable[Observed]) -> Iterator[Trace]:
    """The traces of these rows, in the order of their ids; the same in whatever order, and however often, they came."""
    own: dict[tuple[str, str], Observed] = {}
    observations: dict[tuple[str, str], dict[str, Observed]] = {}
    for one in rows:
        project_id = text(one.row.get("project_id"))
        if table_of(one.row) == "traces":
            key = project_id, one.id
            if key not in own or one.version() > own[key].version():
                own[key] = one
        else:
            there = observations.setdefault((project_id, text(one.row.get("trace_id"))), {})
            if one.id not in there or one.version() > there[one.id].version():
                there[one.id] = one
    for key in sorted({*own, *observations}):
        below = sorted(observations.get(key, {}).values(), key=lambda one: (one.started or _FIRST, one.id))
        yield Trace(*key, own.get(key), below)


def raw(row: Mapping[str, Any]) -> str:
    """A row as text, for who has to look at it."""
    try:
        return orjson.dumps(row, default=str).decode()[:2000]
    except orjson.JSONEncodeError:
        return "(nested too deep to be shown)"
