"""What homes of several sizes cost: a first night and one more day, in CPU seconds, memory and disk.

    sizing.py FOLDER [--record]

Prints a line for each size, and the coefficients of `flows/care/sizing.py` that fit them; `--record` writes the lines
to `tests/bench/record/sizing.json`. Homes and logs are made in FOLDER and used again.
"""

from __future__ import annotations

import argparse
import json
import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
from history import History
from measured_steps import step
from night_memories import START
from scipy.optimize import nnls

from slowwave.flows.care.sizing import COSTS, Cost, HomeSize, parts

RECORD = Path(__file__).parents[2] / "bench" / "record" / "sizing.json"
SIZES = (
    History(120, 1_000, 1_000, 10),
    History(30, 1_000, 10_000, 100),
    History(30, 10_000, 1_000, 10),
    History(3, 100_000, 10_000, 100),
)


def main() -> None:
    """Measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--record", action="store_true")
    chosen = parser.parse_args()
    measured = []
    for size in SIZES:
        measured.append(measured_size(chosen.folder, size))
        print(json.dumps(measured[-1]), flush=True)
    if chosen.record:
        RECORD.write_text(json.dumps(measured, indent=1) + "\n")
    for name, cost in fitted_costs(measured).items():
        print(f"{name}: {cost}")


def fitted_costs(measured: list[dict[str, Any]]) -> dict[str, Cost]:
    """Coefficients, none below 0, with the least sum of squared relative errors over all nights."""
    nights = [(size, row[night]) for row in measured for night, size in night_sizes(row).items()]
    found = {}
    for name in COSTS:
        wanted = np.array([measured_cost(night, name) for _, night in nights])
        weighed = np.array([parts(size) for size, _ in nights]) / wanted[:, None]
        scale = weighed.max(axis=0)
        coefficients, _ = nnls(weighed / scale, np.ones(len(nights)))
        found[name] = Cost(*(float(f"{each:.3g}") for each in coefficients / scale))
    return found


def night_sizes(row: dict[str, Any]) -> dict[str, HomeSize]:
    """What the first night of a measured home had to do, and the one after."""
    days, interactions, memories = (row[name] for name in ("days", "interactions", "memories"))
    return {
        "first": HomeSize(days * interactions, 0, days, memories),
        "more": HomeSize(interactions, days * interactions, days + 1, memories),
    }


def measured_cost(night: dict[str, Any], name: str) -> float:
    """The figure of `COSTS` that a night took."""
    taken = {
        "cpu_seconds": night["cpu"],
        "peak_bytes": night["peak_mb"] * 2**20,
        "lake_bytes": night["lake"],
        "serving_bytes": night["publish"],
    }
    return float(taken[name])


def measured_size(folder: Path, size: History) -> dict[str, Any]:
    """What the first night of all days takes, then that of one more day, and what the home weighs after each."""
    logs, home = folder / f"logs {size}", folder / f"home {size}"
    days, interactions, memories, projects = size
    if not logs.exists():
        step("logs", logs, days * interactions, memories, projects, days)
    if not (kept := home / "sizing.json").exists():
        nights = []
        for day, delivered in ((days, logs), (days + 1, logs / "more")):
            (home / "inbox").mkdir(parents=True, exist_ok=True)
            for path in delivered.glob("*.parquet"):
                os.link(path, home / "inbox" / path.name)
            night = step("night", home, f"{START + timedelta(days=day):%Y-%m-%d}")
            weighed = {name: _bytes(home / name) for name in ("lake", "serving")}
            weighed["publish"] = weighed.pop("serving") - sum(other["publish"] for other in nights)
            nights.append({**{name: round(night[name], 2) for name in ("cpu", "wall", "peak_mb")}, **weighed})
        kept.write_text(json.dumps(nights))
    first, more = json.loads(kept.read_text())
    return {**size._asdict(), "first": first, "more": more}


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


if __name__ == "__main__":
    main()
