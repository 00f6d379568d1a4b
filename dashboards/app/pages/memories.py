"""The explorer: every memory there is, searched, filtered, sorted and paged by DuckDB."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl
import streamlit as st

from slowwave.dashboards.app.scope import PageScope, compared_counts, scope_bar
from slowwave.dashboards.app.widgets import (
    ANY,
    PAGE_ROWS,
    address,
    choice,
    csv_of,
    draw_chart,
    draw_recipe_link,
    draw_rows,
    draw_text,
    draw_text_field,
    label_of,
    page_asked,
    page_number,
    table,
)
from slowwave.dashboards.charts import memories
from slowwave.dashboards.cookbook.answers import Answers, with_interval
from slowwave.dashboards.cookbook.cookbook import exactly
from slowwave.dashboards.cookbook.published import Published
from slowwave.dashboards.words import NEVER_LANDED, STATES, URGENT_FIRST, number_of, percent, signed_points, sum_of
from slowwave.transforms.core.vocabularies import TRENDS

_SORTS = {
    "references": "most references",
    "needed": "most likely needed",
    "weakest": "weakest first",
    "surest": "surest first",
    "doubtful": "lowest upper bound of confidence",
    "newest": "newest first",
    "last_used": "last used first",
    "memory_id": "id",
}
_COLUMNS = (
    *("memory_id", "content", "verdict", "trend", "confidence", "reference_count", "project", "status"),
    *("last_referenced_at", "injected_count", "eligible_count", "need_30d", "strength", "memory_type"),
)
_MOST_TYPES = 200
_MANY = 100_000
_TEN = 10
_CHARTS = "charts"
_MEMORIES = "sum(memories_count)::BIGINT"
_CHARTED = ["memories_by_verdict", "memories_by_state", "decay_forecast"]
# what the address may say of the choices that are folded away while none is made
_FOLDED = ("status", "trend", "type", "sort")


def memories_page(published: Published) -> None:
    """Draw the explorer."""
    listed = address("list")
    recipes = [LISTS[listed].recipe] if listed in LISTS else _CHARTED if listed == _CHARTS else ["memory_explorer"]
    bar = scope_bar(published, "Memories", *recipes, is_compared=listed not in LISTS)
    with bar.row:
        choice(
            "Which memories",
            "list",
            [*LISTS, _CHARTS],
            unchosen="all memories",
            shown=_list_title,
            is_bare=True,
        )
    if listed == _CHARTS:
        compared_counts(bar, "memory_explorer_count", "verdict", _MEMORIES)
        _charts(published, bar)
        return
    if listed in LISTS:
        _short_list(published, listed, bar)
        return
    with bar.row:
        chosen, sort = _filters(published)
    chosen |= bar.of("memory_explorer")
    own = {name: value for name, value in chosen.items() if name not in bar.shown.values}
    compared_counts(bar, "memory_explorer_count", "verdict", _MEMORIES, **own)
    first = (page_asked() - 1) * PAGE_ROWS
    asking = {**chosen, "sort": sort or "verdict", "limit": str(PAGE_ROWS), "offset": str(first)}
    rows = published.answer("memory_explorer", **asking)
    count = rows["memories_count"][0] if rows.height else 0  # found on the way: a search reads every text
    if rows.is_empty() and first:
        count = sum_of(published.answer("memory_explorer_count", **chosen), "memories_count")
    if not count:
        is_any = bool(published.count("memories_by_state"))
        draw_text("No memory fits: remove a filter, or search for fewer words." if is_any else "No memory is known.")
        draw_recipe_link("memory_explorer_count", **chosen)
        return
    page = page_number(count)
    if rows.is_empty():  # the address asks for a page behind the last
        first = (page - 1) * PAGE_ROWS
        asking["offset"] = str(first)
        rows = published.answer("memory_explorer", **asking)
    shown = f"{first + 1:,} to {first + rows.height:,} of {number_of(count, 'memory', 'memories')}"
    table(
        with_interval(rows, "confidence"),
        "memory_explorer",
        caption=shown,
        columns=_COLUMNS,
    )
    st.download_button(
        "Download these rows as CSV", csv_of(rows), file_name="memories.csv", mime="text/csv", on_click="ignore"
    )
    draw_recipe_link("memory_explorer", **asking)


def _charts(published: Published, bar: PageScope) -> None:
    """How many memories have which verdict and state, and how many fade next."""
    with published.answers() as answers:
        for recipe, chart in (
            ("memories_by_verdict", memories.memories_by_verdict),
            ("memories_by_state", memories.memories_by_state),
            ("decay_forecast", memories.decay_forecast),
        ):
            draw_chart(chart(answers.rows(recipe, _MANY, **bar.of(recipe))))
            draw_recipe_link(recipe, **bar.of(recipe))


@dataclass(frozen=True)
class _List:
    """Memories that an answer of the overview is about: a recipe, what is shown of it, and what to know of it."""

    title: str
    recipe: str
    columns: tuple[str, ...]
    says: str


LISTS = {
    "effect": _List(
        "that help or harm",
        "helping_and_hurting_memories",
        ("content", "lift", "lift_basis", "is_harmful", "project", "memory_id"),
        "Trust rows marked randomised or cutoff: other differences may have other causes.",
    ),
    "cost": _List(
        "that fill the prompts",
        "injected_memories",
        (
            "content",
            "injected_tokens",
            "injected",
            "used",
            "is_unused",
            "tokens",
            "project",
            "memory_type",
            "memory_id",
        ),
        "A token is estimated as four characters; a use in other words is often missed.",
    ),
    "ignored": _List(
        "that are ignored",
        "ignored_instructions",
        ("content", "not_followed_count", "checked_count", "expected", "injected_count", "project", "memory_id"),
        "Most answers that a check can tell of do not follow it. Of other instructions nothing is said.",
    ),
}
"""Short lists of memories, by what the address calls them."""


def _list_title(name: str) -> str:
    return LISTS[name].title if name in LISTS else "in charts, by verdict and state"


def _short_list(published: Published, listed: str, bar: PageScope) -> None:
    chosen = LISTS[listed]
    of = bar.of(chosen.recipe)
    with published.answers() as answers:
        is_any = answers.count(chosen.recipe, **of)
        draw_text(chosen.says if is_any else f"No memories are known {chosen.title}.")
        if listed == "cost" and is_any:
            draw_text(*_describe_injection(answers, bar))
        draw_rows(
            answers,
            chosen.recipe,
            f"Memories {chosen.title}",
            of,
            most=PAGE_ROWS,
            estimate="lift" if listed == "effect" else "",
            write=signed_points,
            columns=chosen.columns,
            labels={"lift": "Effect, in points", "lift_basis": "Basis"},
        )


def _describe_injection(answers: Answers, bar: PageScope) -> list[str]:
    """Return how concentrated injection is, and how many active memories are dead weight, in words."""
    of = bar.of("injected_memories")
    injections = sum_of(answers.counts("injected_memories", "is_unused", counted="sum(injected)::BIGINT", **of))
    most = answers.chosen_rows("injected_memories", _TEN, "true", "injected DESC, memory_id", **of)
    share = percent(sum_of(most, "injected") / injections)
    by_use = answers.rows("memories_by_use", _MANY, **bar.of("memories_by_use"))
    counts = dict(by_use.select("use", "memories_count").iter_rows())
    said = [f"{count:,} {use}" for use, count in counts.items()]
    return [
        f"The {number_of(most.height, 'memory', 'memories')} injected most: {share} of injections.",
        f"Active memories: {', '.join(said)}." if said else "No memory is active.",
    ]


def _filters(published: Published) -> tuple[dict[str, str], str]:
    """What is chosen, as the recipes take it, and the order."""
    search = draw_text_field("Search in texts and ids", "search", placeholder="Search")
    verdict = choice("Verdict", "verdict", (*URGENT_FIRST, "inactive"), unchosen="Any verdict", is_bare=True)
    folded = sum(1 for name in _FOLDED if address(name))
    with st.popover(f"More ({folded})" if folded else "More"):
        status = choice("State", "status", STATES, unchosen="any state")
        trend = choice("Trend of its use", "trend", TRENDS, unchosen="any trend")
        memory_type = choice("Type", "type", _types(published), unchosen="any type", shown=label_of)
        sort = choice("Sort by", "sort", list(_SORTS), unchosen="what needs a person first", shown=_SORTS.__getitem__)
    chosen = {
        "search": search,
        "status": _status(status),
        "verdict": verdict or ANY,
        "trend": trend or ANY,
        "memory_type": exactly(memory_type) if memory_type else ANY,
    }
    return chosen, sort


def _status(chosen: str) -> str:
    """A state as the recipe takes it, where '' is a memory that was injected and never landed."""
    return "" if chosen == NEVER_LANDED else chosen or ANY


def _types(published: Published) -> list[str]:
    """Types that memories have, those that most forecasts were made of first."""
    types = published.answer("half_lives").filter(pl.col("memory_type") != "")["memory_type"]
    return types.head(_MOST_TYPES).to_list()
