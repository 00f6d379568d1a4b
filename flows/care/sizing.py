"""`slowwave plan`: what a home of some size needs, by lines through nights that were measured.

A figure is a sum of parts in proportion to what a night has to do: see `COSTS`. Their coefficients are fitted to
`tests/bench/record/sizing.json` by `tests/support/night/sizing.py`.
"""

from __future__ import annotations

import json
from typing import NamedTuple

import typer

from slowwave.flows.kernel.terminal import format_count, size_shown

# By default `prune` keeps so many publishes besides current.
_PUBLISHES = 8


class HomeSize(NamedTuple):
    """What a night finds: interactions that are new, those of days before, the days with them, and memories."""

    new: int
    before: int
    days: int
    memories: int


class Cost(NamedTuple):
    """What one figure grows with: a part that is always there, and so much of each of the others."""

    fixed: float
    new: float
    before: float
    memories: float
    memory_days: float

    def of(self, size: HomeSize) -> float:
        """The figure of a size."""
        return sum(each * by for each, by in zip(self, parts(size), strict=True))


def parts(size: HomeSize) -> tuple[float, ...]:
    """What the coefficients of a `Cost` are multiplied by."""
    return (1.0, size.new, size.before, size.memories, size.memories * size.days)


COSTS: dict[str, Cost] = {
    "cpu_seconds": Cost(10.6, 0.000332, 1.5e-05, 0.00106, 0.0),
    "peak_bytes": Cost(5.81e8, 4350.0, 1030.0, 30900.0, 0.0),
    "lake_bytes": Cost(1.96e7, 845.0, 855.0, 264.0, 0.0),
    "serving_bytes": Cost(1.25e7, 58.3, 57.2, 1350.0, 0.0),
}
"""CPU seconds of a night; the most memory its process holds; bytes of the lake after it; bytes of what it publishes."""
LARGEST = HomeSize(new=300_000, before=300_000, days=121, memories=10_000)
"""The largest of each that was measured."""


def run_plan(per_day: int, memories: int, days: int, *, output: str) -> None:
    """Print what a home needs on its first day and after so many, as `text` or `json`."""
    sizes = {"first": HomeSize(per_day, 0, 1, memories), "later": HomeSize(per_day, per_day * days, days, memories)}
    needs = {name: estimated(size) for name, size in sizes.items()}
    beyond = beyond_measured(sizes["later"])
    if output == "json":
        asked = {"per_day": per_day, "memories": memories, "days": days}
        typer.echo(json.dumps({**asked, **needs, "extrapolated": beyond}, indent=2))
        return
    first, later = needs["first"], needs["later"]
    lines = [
        f"{format_count(per_day, 'interaction')} a day, {format_count(memories, 'memory', 'memories')}",
        f"{'':22}{'the first night':>17}{f'after {days:,} days':>19}",
        *(f"{title:22}{show(first[name]):>17}{show(later[name]):>19}" for name, (title, show) in _SHOWN.items()),
        "A night computes on one core: by the clock it takes about as long as its CPU time.",
        "Estimated from nights of generated logs on two cores; machines and texts differ: leave room for twice it.",
    ]
    if beyond:
        lines.append(f"Extrapolated: larger than what was measured in {', '.join(beyond)}.")
    typer.echo("\n".join(lines))


_SHOWN = {
    "cpu_seconds": ("CPU time of a night", "{:,.0f} s".format),
    "peak_bytes": ("memory at most", size_shown),
    "disk_bytes": (f"disk, {_PUBLISHES} publishes", size_shown),
    "growth_bytes": ("disk more each day", size_shown),
}


def estimated(size: HomeSize) -> dict[str, float]:
    """CPU seconds of a night, and bytes: memory, the lake, a publish, disk in all, and what one more day adds to it."""
    found = {name: cost.of(size) for name, cost in COSTS.items()}
    next_size = HomeSize(size.new, size.before + size.new, size.days + 1, size.memories)
    more = {name: cost.of(next_size) for name, cost in COSTS.items()}
    disk, later = (of["lake_bytes"] + _PUBLISHES * of["serving_bytes"] for of in (found, more))
    found |= {"disk_bytes": disk, "growth_bytes": later - disk}
    return {name: round(value, 1) if name == "cpu_seconds" else round(value) for name, value in found.items()}


def beyond_measured(size: HomeSize) -> list[str]:
    """In what a size is larger than any that was measured, in words."""
    named = {"new": "interactions a day", "before": "interactions in all", "days": "days", "memories": "memories"}
    return [words for name, words in named.items() if getattr(size, name) > getattr(LARGEST, name)]
