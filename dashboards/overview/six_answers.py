"""The six answers of the first screen, each read from recipes of the cookbook and told in one sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from slowwave.dashboards.commands import case_command, command_line
from slowwave.dashboards.cookbook.answers import ALL, Answers
from slowwave.dashboards.links import memory_link, view
from slowwave.dashboards.overview.actions import actions
from slowwave.dashboards.overview.tiles import Named, Tile
from slowwave.dashboards.overview.window import Days, Window
from slowwave.dashboards.words import in_short, number_of, percent, signed_percent, signed_points, sum_of
from slowwave.flows.kernel.terminal import shortened, terminal_safe
from slowwave.transforms.core.statistics import Difference, stratified_difference
from slowwave.transforms.core.vocabularies import CAUSAL_BASES

BEFORE = "before"
"""What the days before are called."""
_MASS = 0.9
_FEWEST = 20  # attempts on each side, from which on a difference is said
_NAMES = 2
_NAME_CHARACTERS = 26
_TOP = 10
_DRAWN = pl.col("probability") < 1
_NO_INJECTION = "No injection is known: log `memories_used` with each interaction."


@dataclass(frozen=True)
class Scope:
    """Of which project and agent an answer is, each as a pattern of the recipes: all by default."""

    project: str = "%"
    agent: str = "%"

    @property
    def of_project(self) -> dict[str, str]:
        """The params of a recipe that knows no agent."""
        return {"project": self.project}

    @property
    def params(self) -> dict[str, str]:
        """The params of a recipe."""
        return {"project": self.project, "agent": self.agent}


@dataclass(frozen=True)
class _Part:
    """The days of one scope, and what happened on them: rows of `activity_by_day`."""

    answers: Answers
    days: Days
    scope: Scope
    activity: pl.DataFrame

    @property
    def params(self) -> dict[str, str]:
        return self.days.params() | self.scope.params

    def sum(self, name: str, days: Days | None = None) -> int:
        rows = self.activity if days is None else self.activity.filter(pl.col("day").is_between(days.first, days.last))
        return sum_of(rows, name)

    def share(self, part: str, whole: str, days: Days | None = None) -> float | None:
        return self.sum(part, days) / self.sum(whole, days) if self.sum(whole, days) else None


@dataclass(frozen=True)
class _Asked:
    """What an answer is about, and with what it is compared (None: with nothing)."""

    answers: Answers
    shown: _Part
    other: _Part | None
    other_is: str
    bars: Sequence[Days]

    def tile(self, question: str, page: str, **chosen: str) -> Tile:
        return Tile(question, view(page, **chosen))

    def shares(self, part: str, whole: str) -> list[float | None]:
        return [self.shown.share(part, whole, bar) for bar in self.bars]

    def change(self, part: str, whole: str, what: str = "") -> str:
        now, before = self.shown.share(part, whole), self.other.share(part, whole) if self.other else None
        if now is None or before is None:
            return ""
        return f"{what + ' ' if what else ''}{signed_points(now - before)} points {self.against}".strip()

    @property
    def against(self) -> str:
        """With what a difference compares, where that is not the days before."""
        return "" if self.other_is == BEFORE else f"against {self.other_is}"


def six_answers(
    answers: Answers,
    window: Window,
    scope: Scope,
    *,
    other: tuple[Days, Scope] | None,
    other_is: str = BEFORE,
    other_answers: Answers | None = None,
) -> list[Tile]:
    """Return the tiles of the first screen, in its order.

    `other`: the days and the scope that they are compared with, in a word `other_is`; None: with nothing.
    `other_answers`: those of another publish, where it is that.
    """
    shown = _part(answers, window.shown, scope)
    days = shown.activity["day"].to_list()
    asked = _Asked(
        answers,
        shown,
        None if other is None else _part(other_answers or answers, *other),
        other_is,
        window.bars(min(days)) if days else [],
    )
    return [answer(asked) for answer in (_helping, _using, _costing, _ignored, _failing, _to_do)]


def _part(answers: Answers, days: Days, scope: Scope) -> _Part:
    activity = answers.rows("activity_by_day", int(ALL), **days.params(), **scope.params)
    return _Part(answers, days, scope, activity)


# ------------------------------------------------------------------------------------------------------ do they help?


def _helping(asked: _Asked) -> Tile:
    tile = replace(
        asked.tile("Do memories help?", "memories", list="effect"),
        values=asked.shares("successes_with", "attempts_with"),
        values_are="Success of attempts with a memory, over time",
    )
    rows = _attempts(asked.shown)
    found = compared_success(rows)
    if found is None:
        return replace(tile, lacks=_lacking(rows, asked.shown))
    difference, basis = found
    verdict = "no clear difference" if difference.low <= 0 <= difference.high else "clear difference"
    before = None if asked.other is None else compared_success(_attempts(asked.other))
    return replace(
        tile,
        figure=signed_points(difference.value),
        unit="points of success",
        change="" if before is None else f"{signed_points(before[0].value)} {asked.other_is}",
        says=f"{percent(difference.with_share)} succeed with, {percent(difference.without_share)} without: {verdict} "
        f"({signed_points(difference.low)} to {signed_points(difference.high)}); {basis}.",
        named=_helpful(asked),
    )


def _attempts(part: _Part) -> pl.DataFrame:
    return part.answers.rows("attempts_by_injection", int(ALL), **part.params)


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


def _lacking(rows: pl.DataFrame, shown: _Part) -> str:
    if not shown.sum("attempts"):
        return "No outcome is known: log `success` with each interaction."
    if not shown.sum("injected"):
        return _NO_INJECTION
    sides = dict(rows.group_by("has_memory").agg(pl.col("attempts").sum()).iter_rows())
    if not sides.get(False, 0):
        return "Every attempt had a memory: hold some back, and log `injection_probability`."
    return f"Needs {_FEWEST} attempts with a memory and {_FEWEST} without: choose more days."


def _helpful(asked: _Asked) -> list[Named]:
    """The memories whose effect is told from chance, the largest first."""
    # what holds is asked of DuckDB: a project may have hundreds of thousands of other memories
    bases = ", ".join(f"'{basis}'" for basis in CAUSAL_BASES)
    clear = asked.answers.chosen_rows(
        "helping_and_hurting_memories",
        _NAMES,
        f"(lift_low > 0 OR lift_high < 0) AND lift_basis IN ({bases})",
        "abs(lift) DESC, is_harmful DESC NULLS LAST, lift, memory_id",
        **asked.shown.scope.of_project,
    )
    return [
        _memory(row, f"{'helps' if row['lift'] > 0 else 'harms'} {signed_points(row['lift'])}")
        for row in clear.iter_rows(named=True)
    ]


# ---------------------------------------------------------------------------------------------------- are they used?


def _using(asked: _Asked) -> Tile:
    tile = asked.tile("Are they used?", "interactions")
    prompts, injected, used = (asked.shown.sum(name) for name in ("interactions", "injected", "used"))
    if not injected:
        return replace(tile, lacks=_NO_INJECTION)
    return replace(
        tile,
        figure=f"≥ {percent(used / injected)}",
        unit="seen in answers",
        change=asked.change("used", "injected"),
        says=f"Injected in {percent(injected / prompts)} of {number_of(prompts, 'prompt')}.",
        values=asked.shares("used", "injected"),
        values_are="Share of injections with a use, over time",
    )


# -------------------------------------------------------------------------------------------------- what do they cost?


def _costing(asked: _Asked) -> Tile:
    tile = asked.tile("What do they cost?", "memories", list="cost")
    shown = asked.shown
    total, unused, top = asked.answers.summed(
        "injected_memories",
        "sum(injected_tokens)::BIGINT AS total",
        "(sum(injected_tokens) FILTER (is_unused))::BIGINT AS unused",
        f"list_sum(max(injected_tokens, {_TOP}))::BIGINT AS top",
        **shown.params,
    )
    if not total:
        return replace(tile, lacks=_NO_INJECTION)
    rows = asked.answers.rows("injected_memories", 1, **shown.params)
    per_week = total / _weeks(shown)
    before = 0.0
    if asked.other is not None:
        (found,) = asked.other.answers.summed(
            "injected_memories", "sum(injected_tokens)::BIGINT AS total", **asked.other.params
        )
        before = (found or 0) / _weeks(asked.other)
    return replace(
        tile,
        figure=in_short(per_week),
        unit="tokens a week",
        change="" if not before else f"{signed_percent(per_week / before - 1)} {asked.against}".strip(),
        says=f"{percent((unused or 0) / total)} in memories never used, {percent(top / total)} in the ten largest."
        + _money_words(total, shown.activity),
        values=[float(shown.sum("injected_tokens", bar)) for bar in asked.bars],
        values_are="Injected tokens over time",
        named=[
            _memory(row, f"{in_short(row['injected_tokens'] / _weeks(shown))} a week")
            for row in rows.iter_rows(named=True)
        ],
    )


def _money_words(injected: int, activity: pl.DataFrame) -> str:
    """What the injected tokens cost, as part of what the interactions of the days state that have both."""
    stated = activity.filter(pl.col("tokens").is_not_null() & pl.col("cost").is_not_null())
    tokens, cost = sum_of(stated, "tokens"), float(stated["cost"].sum())
    if not tokens or not cost:
        return ""
    share = injected / tokens
    return f" About {share * cost:,.2f} of {cost:,.2f} spent." if share < 1 else ""


def _weeks(part: _Part) -> float:
    """How many weeks the log covers of these days, one at least."""
    days = part.activity["day"].to_list()
    return max((max(days) - min(days)).days + 1, 7) / 7 if days else 1.0


# ---------------------------------------------------------------------------------------------------- what is ignored?


def _ignored(asked: _Asked) -> Tile:
    tile = asked.tile("What is ignored?", "memories", list="ignored")
    rows = asked.answers.rows("ignored_instructions", int(ALL), **asked.shown.scope.of_project)
    if rows.is_empty() and not asked.shown.sum("injected"):
        return replace(tile, lacks=_NO_INJECTION)
    return replace(
        tile,
        figure=f"{rows.height:,}",
        unit="instruction without a visible use" if rows.height == 1 else "instructions without a visible use",
        says="" if rows.height else "Every instruction injected often is seen in some answer.",
        named=[_memory(row, f"{row['injected_count']:,} ×") for row in rows.head(_NAMES).iter_rows(named=True)],
    )


# -------------------------------------------------------------------------------------------------- what keeps failing?


def _failing(asked: _Asked) -> Tile:
    tile = asked.tile("What keeps failing?", "strategies")
    of = asked.shown.scope.params
    total = asked.answers.count("costliest_anti_patterns", **of)
    if not total and not asked.shown.sum("attempts"):
        return replace(tile, lacks="No outcome is known: log `success` and `strategy` with each attempt.")
    rows = asked.answers.rows("costliest_anti_patterns", _NAMES, **of)
    lost = asked.answers.summed("costliest_anti_patterns", "sum(failures - expected_failures) AS lost", **of)[0] or 0.0
    return replace(
        tile,
        figure=f"{total:,}",
        unit=("strategy" if total == 1 else "strategies")
        + (f", {number_of(round(lost), 'avoidable failure')}" if total else ""),
        change=asked.change("successes", "attempts", "success"),
        says="" if total else "No strategy is known to fail more often than its peers.",
        values=asked.shares("successes", "attempts"),
        values_are="Success of attempts, over time",
        named=[_strategy(row) for row in rows.iter_rows(named=True)],
    )


def _strategy(row: Mapping[str, Any]) -> Named:
    better = row["better_alternative"]
    where = f" in {_short(row['project'])}" if row["project"] else ""
    return Named(
        _short(row["pattern"]),
        f"{row['failures']:,} of {row['attempts']:,} fail{where}" + (f"; try {_short(better)}" if better else ""),
        view("strategies", project=row["project"], task_type=row["task_type"]),
        case_command(row["pattern"], row),
    )


# ------------------------------------------------------------------------------------------------- what shall I do now?


def _to_do(asked: _Asked) -> Tile:
    found = actions(asked.answers, asked.shown.scope.of_project)
    return replace(
        asked.tile("What shall I do now?", "review"),
        figure="" if found else "Nothing",
        says="" if found else "Nothing needs you.",
        named=found,
        has_commands=True,
    )


# --------------------------------------------------------------------------------------------------------------- names


def _memory(row: Mapping[str, Any], figure: str) -> Named:
    return Named(_short(row["content"]), figure, memory_link(row["memory_id"]), command_line("why", row["memory_id"]))


def _short(text: str | None) -> str:
    return shortened(terminal_safe(shortened(text or "", _NAME_CHARACTERS)), _NAME_CHARACTERS)
