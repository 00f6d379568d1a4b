"""What to do now: at most five actions, the one that is worth most first, each with its command."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from slowwave.dashboards.cookbook.answers import ALL, Answers
from slowwave.dashboards.links import command_line, opened_by, view
from slowwave.dashboards.overview.tiles import Named
from slowwave.dashboards.words import number_of, sentence, sum_of
from slowwave.flows.kernel.terminal import shorten_to_width

_MOST, _CHARACTERS, _ID_CHARACTERS = 5, 60, 8
_IGNORED = "Instructions that most checked answers do not follow, and that wait for a decision"
# what an alarm of `project_health` says, what to do about it, and the recipe that names the memories; '' is an action
# of its own already
_ALARMS = {
    "given to interactions of another": ("Stop leaked memories", "scope_leaks"),
    "injected in the last": ("Stop outdated memories", "stale_injections"),
    "of its memories have the verdict harmful": ("", ""),
}


def actions(answers: Answers, of: Mapping[str, str], decided: Mapping[str, str]) -> list[Named]:
    """Return the actions of a project, or of all: what is critical and harm, then failures, warnings, questions, costs.

    Nothing is counted in two of them. `of`: the params of the recipes, for instance a pattern of projects. `decided`:
    what was said of review items since the publish, by id.
    """
    items = answers.rows("review_queue", int(ALL), **of)
    is_decided = pl.col("item_id").is_in(list(decided))
    waiting = items.filter(~is_decided)
    harmful, ignored = (waiting.filter(pl.col("kind") == kind) for kind in ("harmful", "ignored"))
    rest = waiting.filter(~pl.col("kind").is_in(["harmful", "ignored"]))
    found = [
        stop_alarm(answers, of, "critical"),
        _of_items(items, harmful, "Reject", "harmful memory", "harmful memories", kind="harmful"),
        replace_failing(answers, of),
        stop_alarm(answers, of, "warning"),
        _of_items(
            items, ignored, "Check", "ignored instruction", "ignored instructions", kind="ignored", title=_IGNORED
        ),
        _of_items(items, rest, "Decide", "other item" if rest.height < waiting.height else "review item"),
        _forgetting(answers, of),
    ]
    decided_items = _say_decided(items.filter(is_decided).height)
    return [*[action for action in found if action is not None][:_MOST], *decided_items]


def _of_items(
    queue: pl.DataFrame, items: pl.DataFrame, do: str, one: str, many: str = "", *, kind: str = "", title: str = ""
) -> Named | None:
    """Return the action on review items of the queue: of a single one its own, else the list of its kind."""
    if items.is_empty():
        return None
    text = f"{do} {number_of(items.height, one, many)}"
    if items.height == 1:
        item = items.row(0, named=True)
        short = item["item_id"][:_ID_CHARACTERS]
        name = short if queue["item_id"].str.starts_with(short).sum() == 1 else item["item_id"]
        return Named(text, "", view("review", **opened_by(item)), command_line("review", "show", name), title)
    line = command_line("review", "list", **({"kind": kind} if kind else {}))
    return Named(text, "", view("review", kind=kind), line, title)


def replace_failing(answers: Answers, of: Mapping[str, str]) -> Named | None:
    """Return the action on failing strategies, wherever they fail; None: none does."""
    failing = answers.rows("costliest_anti_patterns", int(ALL), **of)
    if failing.is_empty():
        return None
    where = {name: failing[name][0] for name in ("project", "task_type") if failing[name].n_unique() == 1}
    return Named(
        f"Replace {number_of(failing['strategy_id'].n_unique(), 'failing strategy', 'failing strategies')}",
        "",
        view("strategies", tab="Failing", **where),
        command_line("sql", "costliest_anti_patterns"),
    )


def stop_alarm(answers: Answers, of: Mapping[str, str], level: str) -> Named | None:
    """Return the action on the first alarm of a level that is no action already; its title has the others too."""
    alarms = answers.rows("alarms", int(ALL), **of).filter(pl.col("level") == level)["alarm"].to_list()
    said = [next((do for words, do in _ALARMS.items() if words in alarm), (f"Alarm: {alarm}", "")) for alarm in alarms]
    found = [(*do, alarm) for do, alarm in zip(said, alarms, strict=True) if do[0]]
    if not found:
        return None
    text, recipe, _ = found[0]
    whole = " ".join(sentence(alarm) for *_, alarm in found)
    link = view("sql", recipe=recipe) if recipe else view("runs")
    # the longest text is of an alarm that has no words of its own
    return Named(shorten_to_width(text, _CHARACTERS), "", link, command_line("sql", recipe or "alarms"), whole)


def _forgetting(answers: Answers, of: Mapping[str, str]) -> Named | None:
    rules = answers.counts("forgetting_plan", "is_shadow", **of)
    planned = sum_of(rules.filter(~pl.col("is_shadow")))
    text = f"Archive {number_of(planned, 'memory', 'memories')}"
    return Named(text, "", view("review"), command_line("forget", "plan")) if planned else None


def _say_decided(count: int) -> Iterator[Named]:
    if count:
        yield Named(f"{number_of(count, 'review item')} decided, takes effect tonight", "", view("review"))
