"""The six answers of the first screen, each read from recipes of the cookbook and told in one sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import polars as pl

from slowwave.dashboards.cookbook.answers import ALL, Answers
from slowwave.dashboards.links import FIRST_PAGE, case_command, command_line, opened_by, view
from slowwave.dashboards.overview.actions import actions
from slowwave.dashboards.overview.tiles import Named, Tile
from slowwave.dashboards.overview.window import Days, Window
from slowwave.dashboards.words import in_short, number_of, percent, project_label, signed_percent, signed_points, sum_of
from slowwave.flows.kernel.terminal import shorten_to_width, terminal_safe
from slowwave.transforms.core.vocabularies import CAUSAL_BASES

BEFORE = "before"
"""What the days before are called."""
_FEWEST, _FEWEST_A_WEEK = 20, 5  # attempts on each side, from which on a difference is shown
_MOST_WEEKS, _MOST_NAMED = 30, 2
_NAME_CHARACTERS, _WHOLE_CHARACTERS = 22, 400
_NO_MEMORY = "No memory is known: `slowwave import` reads several stores."
_NO_INJECTION = "No injection is known: log `memories_used` with each interaction."
# other words for the same, so that no two tiles say one sentence
_NO_COST, _NOT_JUDGED = (f"Is {done} once `memories_used` is logged." for done in ("counted", "judged"))

_NOTHING_CHECKED = "No instruction was checked ten times yet."


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
    decided: Mapping[str, str]

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
    decided: Mapping[str, str] | None = None,
) -> list[Tile]:
    """Return the tiles of the first screen, in its order.

    `other`: the days and the scope that they are compared with, in a word `other_is`; None: with nothing.
    `other_answers`: those of another publish, where it is that. `decided`: what was said of review items since the
    publish.
    """
    shown = _part(answers, window.shown, scope)
    days = shown.activity["day"].to_list()
    asked = _Asked(
        answers,
        shown,
        None if other is None else _part(other_answers or answers, *other),
        other_is,
        window.bars(min(days)) if days else [],
        decided or {},
    )
    tiles = [answer(asked) for answer in (_helping, _using, _costing, _ignored_tile, _failing)]
    return [*tiles, _to_do(asked, is_lacking=any(tile.lacks for tile in tiles))]


def _part(answers: Answers, days: Days, scope: Scope) -> _Part:
    activity = answers.rows("activity_by_day", int(ALL), **days.params(), **scope.params)
    return _Part(answers, days, scope, activity)


# ------------------------------------------------------------------------------------------------------ do they help?


def _helping(asked: _Asked) -> Tile:
    tile = asked.tile("Do memories help?", "memories", list="effect")
    found = _difference(asked.shown)
    if found is None:
        return replace(tile, lacks=_lacking(asked.shown))
    before = None if asked.other is None else _difference(asked.other)
    by_week = _weekly_differences(asked.shown, found["basis"])
    return replace(
        tile,
        figure=signed_points(found["difference"]),
        unit=f"points ({signed_points(found['low'])} to {signed_points(found['high'])})",
        change=""
        if before is None
        else f"{signed_points(found['difference'] - before['difference'])} points {asked.against}".strip(),
        says=f"{percent(found['with_share'])} with, {percent(found['without_share'])} without"
        f"{' (may be chance)' if found['low'] <= 0 <= found['high'] else ''}; {found['basis']}.",
        values=[each and each[0] for each in by_week],
        limits=[each and each[1:] for each in by_week],
        values_are="Success with a memory less success without, per week, with its 90 % interval",
        named=_clearest(asked),
    )


def _difference(part: _Part) -> dict[str, Any] | None:
    """Return the row of `success_difference` with the best basis that has enough attempts, None without one."""
    rows = part.answers.rows("success_difference", int(ALL), **part.params, at_least=f"{_FEWEST}").filter("is_enough")
    return None if rows.is_empty() else rows.row(0, named=True)


def _weekly_differences(part: _Part, basis: str) -> list[tuple[float, float, float] | None]:
    """Return difference, low and high of the weeks in a row, the last 30 of them; None in a week with few attempts."""
    rows = part.answers.rows("success_difference", int(ALL), **part.params, at_least=f"{_FEWEST_A_WEEK}", per="week")
    known = rows.filter(pl.col("is_enough") & (pl.col("basis") == basis))
    by_week = {monday: limits for monday, *limits in known.select("since", "difference", "low", "high").iter_rows()}
    if not by_week:
        return []
    first, last = min(by_week), max(by_week)
    mondays = [first + timedelta(weeks=week) for week in range((last - first).days // 7 + 1)][-_MOST_WEEKS:]
    return [tuple(by_week[monday]) if monday in by_week else None for monday in mondays]


def _lacking(shown: _Part) -> str:
    if not shown.sum("attempts"):
        return "No attempt is known: log `success` with each interaction."
    if not shown.sum("injected"):
        return "No attempt with a memory is known: log `memories_used`."
    sides = shown.answers.counts("attempts_by_injection", "has_memory", **shown.params)["has_memory"].to_list()
    if not sides:
        return "No outcome names its interaction: log `interaction_id` with each."
    if False not in sides:
        return "Every attempt had a memory: hold some back, and log `injection_probability`."
    return f"Needs {_FEWEST} attempts with a memory and {_FEWEST} without, in five sessions each."


def _clearest(asked: _Asked) -> list[Named]:
    """The memories whose effects are told from chance, the largest first."""
    # what holds is asked of DuckDB: a project may have hundreds of thousands of other memories
    bases = ", ".join(f"'{basis}'" for basis in CAUSAL_BASES)
    clear = asked.answers.chosen_rows(
        "helping_and_hurting_memories",
        _MOST_NAMED,
        f"(lift_low > 0 OR lift_high < 0) AND lift_basis IN ({bases})",
        "abs(lift) DESC, is_harmful DESC NULLS LAST, lift, memory_id",
        **asked.shown.scope.of_project,
    )
    return [_memory(row, f"{signed_points(row['lift'])} points") for row in clear.iter_rows(named=True)]


# ---------------------------------------------------------------------------------------------------- are they used?


def _using(asked: _Asked) -> Tile:
    tile = asked.tile("Are they used?", "memories", sort="references")
    prompts, injected, used = (asked.shown.sum(name) for name in ("interactions", "injected", "used"))
    if not used and not injected:
        return replace(tile, lacks=_NO_INJECTION if asked.answers.count("memories_by_state") else _NO_MEMORY)
    return replace(
        tile,
        figure=f"≥ {percent(used / prompts)}",
        unit=f"of {prompts:,} answers",
        change=asked.change("used", "interactions"),
        says=f"Injected: {percent(injected / prompts)}." if injected else _NO_INJECTION,
        values=asked.shares("used", "interactions"),
        values_are="Share of answers that quote or use a memory, over time",
    )


# -------------------------------------------------------------------------------------------------- what do they cost?


def _costing(asked: _Asked) -> Tile:
    tile = asked.tile("What do they cost?", "memories", list="cost")
    shown = asked.shown
    unused, total = shown.sum("unused_tokens"), shown.sum("injected_tokens")
    if not total:
        return replace(tile, lacks=_NO_COST)
    per_week = total / _weeks(shown)
    before = 0 if asked.other is None else asked.other.sum("injected_tokens") / _weeks(asked.other)
    return replace(
        tile,
        figure=in_short(per_week),
        unit="tokens/week",
        change="" if not before else f"{signed_percent(per_week / before - 1)} {asked.against}".strip(),
        says=f"{percent(unused / total)} unused{_money_words(per_week, total, shown.activity)}.",
        values=[float(shown.sum("injected_tokens", bar)) for bar in asked.bars],
        values_are="Injected tokens over time",
        named=[_memory(row, in_short(row["injected_tokens"])) for row in _heaviest(asked).iter_rows(named=True)],
    )


def _heaviest(asked: _Asked) -> pl.DataFrame:
    """Return the memory that took most tokens on all days: to ask it of some days would read all references."""
    return asked.answers.rows("heaviest_memories", 1, **asked.shown.scope.of_project)


def _money_words(per_week: float, injected: int, activity: pl.DataFrame) -> str:
    """What the injected tokens of a week cost, as part of what the interactions of the days state that have both.

    A log states a cost without its unit.
    """
    stated = activity.filter(pl.col("tokens").is_not_null() & pl.col("cost").is_not_null())
    tokens, cost = sum_of(stated, "tokens"), float(stated["cost"].sum())
    if not tokens or not cost:
        return ""
    is_part = injected < tokens
    return f"; cost {per_week / tokens * cost:,.2f}/week" if is_part else ""


def _weeks(part: _Part) -> float:
    """How many weeks the log covers of these days, one at least."""
    days = part.activity["day"].to_list()
    return max((max(days) - min(days)).days + 1, 7) / 7 if days else 1.0


# ---------------------------------------------------------------------------------------------------- what is ignored?


def _ignored_tile(asked: _Asked) -> Tile:
    tile = asked.tile("What is ignored?", "memories", list="ignored")
    of = asked.shown.scope.of_project
    judged = asked.answers.count("ignored_instructions", **of, at_most=ALL)
    unchecked = asked.answers.count("unchecked_instructions", **of)
    if not judged:
        is_known = asked.shown.sum("injected")
        none = f"None of {number_of(unchecked, 'instruction')} can be checked." if unchecked else _NOTHING_CHECKED
        return replace(tile, lacks=none if is_known else _NOT_JUDGED)
    ignored = asked.answers.count("ignored_instructions", **of)
    most = asked.answers.rows("ignored_instructions", 1, **of)
    return replace(
        tile,
        figure=f"{ignored:,}",
        unit=f"of {judged:,} checked, mostly not followed",
        says=f"{number_of(unchecked, 'more instruction')} cannot be checked." if unchecked else "",
        named=[
            _memory(row, f"not in {row['not_followed_count']:,} of {row['checked_count']:,}")
            for row in most.iter_rows(named=True)
        ],
    )


# -------------------------------------------------------------------------------------------------- what keeps failing?


def _failing(asked: _Asked) -> Tile:
    tile = asked.tile("What keeps failing?", "strategies", tab="Failing")
    answers, of = asked.answers, asked.shown.scope.params
    total, hard = (answers.count(name, **of) for name in ("costliest_anti_patterns", "hard_tasks"))
    if not total + hard and not answers.count("strategies", **of):
        return replace(tile, lacks="No strategy is known: log `success` and `strategy` with each attempt.")
    rows = answers.rows("costliest_anti_patterns", 1 if hard else 2, **of)
    strategies = answers.counts("costliest_anti_patterns", "strategy_id", **of).height
    return replace(
        tile,
        figure=f"{strategies:,}",
        unit=f"{'strategy' if strategies == 1 else 'strategies'}"
        + (f", {number_of(hard, 'hard task')}" if hard else ""),
        says="" if total else "None tried lately fails more than its peers.",
        values=asked.shares("successes", "attempts"),
        values_are="Success of attempts, over time",
        named=[
            *(_strategy(row) for row in rows.iter_rows(named=True)),
            *(_hard_task(row) for row in answers.rows("hard_tasks", 1, **of).iter_rows(named=True)),
        ],
    )


def _strategy(row: Mapping[str, Any]) -> Named:
    where = " / ".join(filter(None, (project_label(row["project"]), row["task_type"])))
    better = f"; try {_short(row['better_alternative'])}" if row["better_alternative"] else ""
    return Named(
        _short(row["pattern"]),
        f"{_failed(row['failures'], row['attempts'])}{better}",
        view(FIRST_PAGE, **opened_by(row)),
        case_command(row["pattern"], row),
        _whole(f"{row['pattern']} ({where}): {row['why_bad']}"),
    )


def _failed(failures: int, attempts: int) -> str:
    return f"all {attempts:,} fail" if failures == attempts else f"{failures:,} of {attempts:,} fail"


def _hard_task(row: Mapping[str, Any]) -> Named:
    return Named(
        _short(row["task_type"]),
        _failed(row["attempts"], row["attempts"]),
        view("strategies", project=row["project"], task_type=row["task_type"]),
        command_line("sql", "hard_tasks"),
        _whole(f"{row['task_type']} ({project_label(row['project'])}): nobody succeeds. {row['why_hard']}"),
    )


# ------------------------------------------------------------------------------------------------- what shall I do now?


def _to_do(asked: _Asked, *, is_lacking: bool) -> Tile:
    found = actions(asked.answers, asked.shown.scope.of_project, asked.decided)
    return replace(
        asked.tile("What shall I do now?", "review"),
        says="" if found else "Log what the other tiles name." if is_lacking else "Nothing needs you.",
        named=found,
        has_commands=True,
    )


# --------------------------------------------------------------------------------------------------------------- names


def _memory(row: Mapping[str, Any], figure: str) -> Named:
    memory_id, content = row["memory_id"], row["content"] or row["memory_id"]
    return Named(
        _short(content), figure, view(FIRST_PAGE, **opened_by(row)), command_line("why", memory_id), _whole(content)
    )


def _short(text: str | None) -> str:
    """The first words of a text, as many as there is room for."""
    name = shorten_to_width(terminal_safe(shorten_to_width(text or "", _NAME_CHARACTERS)), _NAME_CHARACTERS)
    words, _, rest = name.rpartition(" ")
    return f"{words}…" if words and rest.endswith("…") else name


def _whole(text: str | None) -> str:
    return terminal_safe(shorten_to_width(text or "", _WHOLE_CHARACTERS))
