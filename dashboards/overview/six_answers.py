"""The six answers of the first screen, each read from recipes of the cookbook and told in one sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from slowwave.dashboards.commands import command_line
from slowwave.dashboards.cookbook.answers import ALL, Answers
from slowwave.dashboards.links import memory_link, view
from slowwave.dashboards.overview.actions import actions
from slowwave.dashboards.overview.tiles import Named, Tile
from slowwave.dashboards.overview.window import Days, Window
from slowwave.dashboards.words import in_short, number_of, percent, signed_percent, signed_points, sum_of
from slowwave.flows.kernel.terminal import shortened, terminal_safe
from slowwave.transforms.core.statistics import Difference, stratified_difference
from slowwave.transforms.core.vocabularies import CAUSAL_BASES

ALL_PROJECTS = "%"
"""The pattern of every project."""
_MASS = 0.9
_FEWEST = 20  # attempts on each side, from which on a difference is said
_NAMES = 2
_NAME_CHARACTERS = 26
_TOP = 10
_DRAWN = pl.col("probability") < 1


def six_answers(answers: Answers, window: Window, project: str) -> list[Tile]:
    """Return the tiles of the first screen, in its order."""
    asked = [_helping, _using, _costing, _ignored, _failing, _to_do]
    days = _by_day(answers, window.before or window.shown, window.shown, project)
    return [ask(answers, days, window, project) for ask in asked]


def _by_day(answers: Answers, before: Days, shown: Days, project: str) -> pl.DataFrame:
    days = Days(before.first, shown.last)
    return answers.rows("activity_by_day", int(ALL), **days.params(), project=project)


# ------------------------------------------------------------------------------------------------------ do they help?


def _helping(answers: Answers, days: pl.DataFrame, window: Window, project: str) -> Tile:
    tile = Tile(
        "Do memories help?",
        view("memories", list="effect"),
        values=_shares(days, window, "successes_with", "attempts_with"),
        values_are="Success of attempts with a memory, over time",
    )
    rows = answers.rows("attempts_by_injection", int(ALL), **window.shown.params(), project=project)
    found = compared_success(rows)
    if found is None:
        return replace(tile, lacks=_lacking(rows, days, window))
    difference, basis = found
    by_side = {
        has_memory: (attempts, successes)
        for has_memory, attempts, successes in rows.group_by("has_memory")
        .agg(pl.col("attempts", "successes").sum())
        .iter_rows()
    }
    shares = {side: percent(successes / attempts) for side, (attempts, successes) in by_side.items()}
    verdict = "no clear difference" if difference.low <= 0 <= difference.high else "clear difference"
    before = None
    if window.before is not None:
        before = compared_success(
            answers.rows("attempts_by_injection", int(ALL), **window.before.params(), project=project)
        )
    return replace(
        tile,
        figure=signed_points(difference.value),
        unit="points of success",
        change="" if before is None else f"{signed_points(before[0].value)} before",
        says=f"{shares[True]} succeed with, {shares[False]} without: {verdict} "
        f"({signed_points(difference.low)} to {signed_points(difference.high)}); {basis}.",
        named=_helpful(answers, project),
    )


def compared_success(rows: pl.DataFrame) -> tuple[Difference, str] | None:
    """Return the difference in success with and without a memory, and what it may be called; None with few attempts.

    `rows`: of `attempts_by_injection`. Where chance decided what was injected, attempts are compared that were offered
    as many memories with one probability: then the memories are the only reason. Else they are compared within project,
    agent and task type; where that leaves less than half of them, all with all, which is not comparable.
    """
    strata = [
        ("randomised", rows.filter(_DRAWN), ["offered_count", "probability"]),
        ("not randomised", rows, ["project", "agent", "task_type"]),
        ("not comparable", rows, []),
    ]
    total = sum_of(rows, "attempts")
    for basis, compared, keys in strata:
        stratum = pl.struct(keys) if keys else pl.lit(0)
        difference = stratified_difference(
            compared.select(
                stratum.alias("stratum"), pl.col("has_memory").alias("is_treated"), "attempts", "successes"
            ),
            _MASS,
        )
        if difference is None or min(difference.with_attempts, difference.without_attempts) < _FEWEST:
            continue
        is_drawn = basis == "randomised"
        if is_drawn or not keys or difference.with_attempts + difference.without_attempts >= total / 2:
            return difference, basis
    return None


def _lacking(rows: pl.DataFrame, days: pl.DataFrame, window: Window) -> str:
    shown = _within(days, window.shown)
    if not sum_of(shown, "attempts"):
        return "No outcome is known: log `success` with each interaction."
    if not sum_of(shown, "injected"):
        return "No injection is known: log `memories_used` with each interaction."
    sides = dict(rows.group_by("has_memory").agg(pl.col("attempts").sum()).iter_rows())
    if not sides.get(False, 0):
        return "Every attempt had a memory: hold some back, and log `injection_probability`."
    return f"Needs {_FEWEST} attempts with a memory and {_FEWEST} without: choose more days."


def _helpful(answers: Answers, project: str) -> list[Named]:
    """The memories whose effect is told from chance, the largest first."""
    rows = answers.rows("helping_and_hurting_memories", int(ALL), project=project)
    clear = rows.filter(
        ((pl.col("lift_low") > 0) | (pl.col("lift_high") < 0)) & pl.col("lift_basis").is_in(CAUSAL_BASES)
    ).sort(pl.col("lift").abs(), descending=True, maintain_order=True)
    return [
        _memory(row, f"{'helps' if row['lift'] > 0 else 'harms'} {signed_points(row['lift'])}")
        for row in clear.head(_NAMES).iter_rows(named=True)
    ]


# ---------------------------------------------------------------------------------------------------- are they used?


def _using(answers: Answers, days: pl.DataFrame, window: Window, project: str) -> Tile:  # noqa: ARG001 - as all six
    tile = Tile("Are they used?", view("interactions"))
    shown = _within(days, window.shown)
    asked, injected, used = (sum_of(shown, name) for name in ("interactions", "injected", "used"))
    if not injected:
        return replace(tile, lacks="No injection is known: log `memories_used` with each interaction.")
    return replace(
        tile,
        figure=f"≥ {percent(used / injected)}",
        unit="seen in answers",
        change=_change_of_share(days, window, "used", "injected"),
        says=f"Injected in {percent(injected / asked)} of {number_of(asked, 'prompt')}.",
        values=_shares(days, window, "used", "injected"),
        values_are="Share of injections with a use, over time",
    )


# -------------------------------------------------------------------------------------------------- what do they cost?


def _costing(answers: Answers, days: pl.DataFrame, window: Window, project: str) -> Tile:
    tile = Tile("What do they cost?", view("memories", list="cost"))
    of = {**window.shown.params(), "project": project}
    total, unused, top = answers.summed(
        "injected_memories",
        "sum(injected_tokens)::BIGINT AS total",
        "(sum(injected_tokens) FILTER (is_unused))::BIGINT AS unused",
        f"list_sum(max(injected_tokens, {_TOP}))::BIGINT AS top",
        **of,
    )
    if not total:
        return replace(tile, lacks="No injection is known: log `memories_used` with each interaction.")
    shown = _within(days, window.shown)
    weeks = max(((shown["day"].max() - shown["day"].min()).days + 1) / 7, 1.0)  # pyright: ignore[reportAttributeAccessIssue, reportOperatorIssue] - there are days
    rows = answers.rows("injected_memories", 1, **of)
    before = None
    if window.before is not None:
        (before,) = answers.summed(
            "injected_memories", "sum(injected_tokens)::BIGINT AS total", **window.before.params(), project=project
        )
    money = shown["cost"].sum()
    return replace(
        tile,
        figure=in_short(total / weeks),
        unit="tokens a week",
        change="" if not before else f"{signed_percent(total / before - 1)}",
        says=f"{percent((unused or 0) / total)} never used, {percent(top / total)} in ten memories."
        + (f" Spent: {money:,.2f}." if money else ""),
        values=_sums(days, window, "injected_tokens"),
        values_are="Injected tokens over time",
        named=[_memory(row, in_short(row["injected_tokens"])) for row in rows.iter_rows(named=True)],
    )


# ---------------------------------------------------------------------------------------------------- what is ignored?


def _ignored(answers: Answers, days: pl.DataFrame, window: Window, project: str) -> Tile:
    tile = Tile("What is ignored?", view("memories", list="ignored"))
    rows = answers.rows("ignored_instructions", int(ALL), project=project)
    injected = sum_of(_within(days, window.shown), "injected")
    if rows.is_empty() and not injected:
        return replace(tile, lacks="No injection is known: log `memories_used` with each interaction.")
    return replace(
        tile,
        figure=f"{rows.height:,}",
        unit="instruction never seen in answers" if rows.height == 1 else "instructions never seen in answers",
        says="" if rows.height else "Every instruction injected often is seen in some answer.",
        named=[_memory(row, f"{row['injected_count']:,} ×") for row in rows.head(_NAMES).iter_rows(named=True)],
    )


# -------------------------------------------------------------------------------------------------- what keeps failing?


def _failing(answers: Answers, days: pl.DataFrame, window: Window, project: str) -> Tile:
    tile = Tile("What keeps failing?", view("strategies"))
    of = {"project": project}
    total = answers.count("costliest_anti_patterns", **of)
    shown = _within(days, window.shown)
    if not total and not sum_of(shown, "attempts"):
        return replace(tile, lacks="No outcome is known: log `success` and `strategy` with each attempt.")
    rows = answers.rows("costliest_anti_patterns", _NAMES, **of)
    lost = answers.summed("costliest_anti_patterns", "sum(failures - expected_failures) AS lost", **of)[0] or 0.0
    return replace(
        tile,
        figure=f"{total:,}",
        unit=("strategy" if total == 1 else "strategies")
        + (f", {number_of(round(lost), 'avoidable failure')}" if total else ""),
        change=_change_of_share(days, window, "successes", "attempts", "success"),
        says="" if total else "No strategy fails more often than its peers.",
        values=_shares(days, window, "successes", "attempts"),
        values_are="Success of attempts, over time",
        named=[_strategy(row) for row in rows.iter_rows(named=True)],
    )


def _strategy(row: Mapping[str, Any]) -> Named:
    better = row["better_alternative"]
    return Named(
        _short(row["pattern"]),
        f"{row['failures']:,} of {row['attempts']:,} fail" + (f"; try {_short(better)}" if better else ""),
        view("strategies", project=row["project"], task_type=row["task_type"]),
        command_line("why", row["pattern"]),
    )


# ------------------------------------------------------------------------------------------------- what shall I do now?


def _to_do(answers: Answers, days: pl.DataFrame, window: Window, project: str) -> Tile:  # noqa: ARG001 - as all six
    found = actions(answers, {"project": project})
    return Tile(
        "What shall I do now?",
        view("review"),
        figure="" if found else "Nothing",
        says="" if found else "Nothing waits for a person.",
        named=found,
        has_commands=True,
    )


# --------------------------------------------------------------------------------------------------------- figures


def _within(days: pl.DataFrame, shown: Days) -> pl.DataFrame:
    return days.filter(pl.col("day").is_between(shown.first, shown.last))


def _sums(days: pl.DataFrame, window: Window, name: str) -> list[float | None]:
    return [float(sum_of(_within(days, bar), name)) for bar in _bars(days, window)]


def _shares(days: pl.DataFrame, window: Window, part: str, whole: str) -> list[float | None]:
    found = []
    for bar in _bars(days, window):
        rows = _within(days, bar)
        found.append(sum_of(rows, part) / sum_of(rows, whole) if sum_of(rows, whole) else None)
    return found


def _bars(days: pl.DataFrame, window: Window) -> list[Days]:
    """The parts of the window, from the first day with anything on."""
    shown = _within(days, window.shown)["day"].to_list()
    return window.bars(min(shown)) if shown else []


def _change_of_share(days: pl.DataFrame, window: Window, part: str, whole: str, what: str = "") -> str:
    if window.before is None:
        return ""
    now, before = _within(days, window.shown), _within(days, window.before)
    if not sum_of(now, whole) or not sum_of(before, whole):
        return ""
    change = sum_of(now, part) / sum_of(now, whole) - sum_of(before, part) / sum_of(before, whole)
    return f"{what + ' ' if what else ''}{signed_points(change)} points"


def _memory(row: Mapping[str, Any], figure: str) -> Named:
    return Named(_short(row["content"]), figure, memory_link(row["memory_id"]), command_line("why", row["memory_id"]))


def _short(text: str | None) -> str:
    return shortened(terminal_safe(shortened(text or "", _NAME_CHARACTERS)), _NAME_CHARACTERS)
