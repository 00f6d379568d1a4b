"""Need on real logs, against the floors that simple methods reach under the same protocol.

Every 30 days (90 but in `make test-all`) after the first third of a log (at least 180 days), each method is fitted anew
on what was known then and asked of every item seen before whether it is referenced in the 30 days after. Skill is
1 - log loss / log loss of the base rate, which is that of all earlier windows.
"""

from __future__ import annotations

import altair as alt
import numpy as np
import polars as pl
import pytest
from reference_log_rows import REFERENCE_LOGS, ReferenceLog, reference_logs
from thorough import IS_THOROUGH

from slowwave.dashboards.charts.learning import reliability_chart
from slowwave.transforms.usage.need_fits import need_coefficients, need_log_loss, need_probability
from slowwave.transforms.usage.need_forecasts import need_forecasts
from slowwave.transforms.usage.params import NeedParams

pytestmark = [
    pytest.mark.shared_data,
    pytest.mark.slow,
    pytest.mark.skipif(not REFERENCE_LOGS.is_dir(), reason="the real logs are not on this machine"),
]
NEED, COUNT, ALMA, BASE = "need/1", "90-day count", "alma/1", "base rate"
PARAMS = NeedParams()
HORIZON = 30
BINS = 15
FIT_ROWS = 60_000


def _floors(log: ReferenceLog, cuts: list[int]) -> dict[int, dict[str, np.ndarray]]:
    """Per cut the items seen before it, whether they are needed, and the one number each simple method knows."""
    memory, day, count = (log.days[name].to_numpy() for name in ("memory", "day", "reference_count"))
    size = log.memories.height
    first = log.memories["created_day"].to_numpy()
    found = {}
    for cut in cuts:
        past = day < cut
        m, age, n = memory[past], (cut - day[past]).astype(float), count[past].astype(float)
        last = np.zeros(size)
        last[m] = day[past]
        is_needed = np.zeros(size, dtype=bool)
        is_needed[memory[(day >= cut) & (day < cut + HORIZON)]] = True
        place = np.flatnonzero(first < cut)
        bonus = np.minimum(0.4, 0.1 * np.log1p(np.bincount(m, n, size)))
        bonus += np.minimum(0.3, 0.1 * np.bincount(m, n * (age <= 7), size))
        known = {f"{ALMA} {h}": np.exp(-0.693 * (cut - 1 - last) / h) + bonus for h in (30, 45, 60, 90)}
        known[COUNT] = np.log1p(np.bincount(m, n * 0.5 ** (age / 90), size))
        found[cut] = {"place": place, "is_needed": is_needed[place]} | {k: v[place] for k, v in known.items()}
    return found


def _one_number(
    earlier: list[dict[str, np.ndarray]], now: dict[str, np.ndarray], name: str
) -> tuple[float, np.ndarray]:
    """Training loss and forecasts of a logistic regression on one number, on every n-th item of the earlier windows."""
    every = 1 + sum(len(window["place"]) for window in earlier) // FIT_ROWS
    chosen = [window["place"] % every == 0 for window in earlier]
    x = np.concatenate([window[name][rows] for window, rows in zip(earlier, chosen, strict=True)])
    y = np.concatenate([window["is_needed"][rows] for window, rows in zip(earlier, chosen, strict=True)])
    features, ones = np.stack([np.ones(len(x)), x]), np.ones(len(x))
    found = need_coefficients(features, y, ones, np.zeros(2), np.full(2, 1e-3))
    told = need_probability(np.stack([np.ones(len(now[name])), now[name]]), found)
    return need_log_loss(need_probability(features, found), y, ones), told


def _graded(log: ReferenceLog) -> pl.DataFrame:
    """cut, is_needed and every method's forecast."""
    start, end = int(log.days["day"].min()), int(log.days["day"].max())  # pyright: ignore[reportArgumentType] - integers
    cuts = list(range(start + HORIZON, end + 2 - HORIZON, HORIZON))
    windows = _floors(log, cuts)
    parts = []
    graded = [cut for cut in cuts if cut >= start + max(180, (end - start) / 3)]
    for cut in graded if IS_THOROUGH else graded[::3]:
        earlier = [windows[past] for past in cuts if past + HORIZON <= cut]
        now = windows[cut]
        told = need_forecasts(log.memories, log.days, log.scope_days, cut, PARAMS).forecasts
        rate = np.concatenate([window["is_needed"] for window in earlier]).mean()
        alma = min((_one_number(earlier, now, f"{ALMA} {h}") for h in (30, 45, 60, 90)), key=lambda fit: fit[0])[1]
        parts.append(
            pl.DataFrame(
                {
                    "cut": np.full(len(now["place"]), cut),
                    "is_needed": now["is_needed"],
                    NEED: told["need_30d"].to_numpy()[now["place"]],
                    COUNT: _one_number(earlier, now, COUNT)[1],
                    ALMA: alma,
                    BASE: np.full(len(now["place"]), rate),
                }
            )
        )
    return pl.concat(parts)


def _losses(graded: pl.DataFrame, method: str) -> np.ndarray:
    told = np.clip(graded[method].to_numpy(), 1e-4, 1 - 1e-4)
    return -np.log(np.where(graded["is_needed"].to_numpy(), told, 1 - told))


def _calibration_error(graded: pl.DataFrame, method: str) -> float:
    told = graded[method].to_numpy()
    at = np.minimum((told * BINS).astype(int), BINS - 1)
    return float(np.abs(np.bincount(at, told - graded["is_needed"].to_numpy(), BINS)).sum() / len(told))


def _skill(graded: pl.DataFrame, method: str) -> tuple[float, float, float]:
    """Skill and its 90 % interval: windows drawn with replacement."""
    losses = pl.DataFrame({"cut": graded["cut"], "own": _losses(graded, method), "base": _losses(graded, BASE)})
    own, base = losses.group_by("cut").agg(pl.col("own", "base").sum()).sort("cut").select("own", "base").to_numpy().T
    drawn = np.random.default_rng(1).integers(0, len(own), size=(200, len(own)))
    low, high = np.quantile(1 - own[drawn].sum(axis=1) / base[drawn].sum(axis=1), [0.05, 0.95])
    return 1 - own.sum() / base.sum(), low, high


def _chart(graded: pl.DataFrame, name: str) -> alt.LayerChart | alt.FacetChart:
    told = graded.unpivot([NEED, COUNT, ALMA], index="is_needed", variable_name="method", value_name="forecast")
    return reliability_chart(told, name)


def test_need_against_the_floors(tmp_path):
    skill, error = {}, {}
    for log in reference_logs():
        graded = _graded(log)
        for method in (NEED, COUNT, ALMA, BASE):
            value, low, high = _skill(graded, method)
            skill[log.name, method], error[log.name, method] = value, _calibration_error(graded, method)
            print(
                f"{log.name:20} {method:13} skill {value:.3f} ({low:.3f} to {high:.3f})"
                f"  calibration error {error[log.name, method]:.3f}"
                f"  {graded.height} cases, {graded['cut'].n_unique()} cuts"
            )
        chart = tmp_path / f"{log.name}.svg"
        _chart(graded, log.name).save(chart)
        print(chart)
    names = sorted({name for name, _ in skill})
    for method in (NEED, COUNT, ALMA, BASE):
        errors = [error[name, method] for name in names]
        mean = np.mean([skill[name, method] for name in names])
        print(f"mean {method:13} skill {mean:.4f}  calibration error {np.mean(errors):.4f}, at worst {max(errors):.4f}")
    assert len(names) == 6
    # of all windows and of a third of them
    assert np.mean([skill[name, NEED] for name in names]) >= (0.28 if IS_THOROUGH else 0.26)
    assert np.mean([error[name, NEED] for name in names]) <= 0.03
    assert max(error[name, NEED] for name in names) <= 0.07
    assert np.mean([skill[name, NEED] for name in names]) > np.mean([skill[name, COUNT] for name in names])
    assert np.mean([skill[name, NEED] for name in names]) > np.mean([skill[name, ALMA] for name in names])
    for name in names if IS_THOROUGH else ():  # a third of the windows is too few for each log
        assert skill[name, NEED] > skill[name, ALMA], name
