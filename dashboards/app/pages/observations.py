"""The page of observations: the facts behind the memories, what is at odds, what was so before, what to make of it."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl
import streamlit as st

from slowwave.dashboards.app.scope import PageScope, compared_counts, scope_bar
from slowwave.dashboards.app.widgets import (
    ANY,
    choice,
    command,
    draw_recipe_link,
    draw_rows,
    draw_text,
    draw_text_field,
    page_number,
    pattern,
    table,
)
from slowwave.dashboards.cookbook.answers import ALL, Answers
from slowwave.dashboards.cookbook.published import Published
from slowwave.dashboards.words import join_words, number_of, sum_of
from slowwave.transforms.core.vocabularies import FRESHNESS

_ROWS = 20
_ACTIONS = ("add", "update", "merge", "skip", "delete")


def observations_page(published: Published) -> None:
    """Draw the page."""
    bar = scope_bar(published, "Observations", "observations")
    with bar.row:
        text = draw_text_field("Search in the text", "search", placeholder="Search")
        freshness = choice("Freshness", "freshness", FRESHNESS, unchosen="Fresh or not", is_bare=True)
    draw_text("An observation is one fact that memories state, with its distinct sources.")
    own = {"search": text, "freshness": pattern(freshness or None)}
    with published.answers() as answers:
        compared_counts(bar, "observations", "freshness", **own, limit=ALL)
        facts, *tabs = st.tabs(["Facts", "Contradictions", "Earlier states", "Curation"])
        with facts:
            _facts(answers, bar, own)
        for tab, draw in zip(tabs, (_at_odds, _states, _curation), strict=True):
            with tab:
                draw(answers, bar)


def _facts(answers: Answers, bar: PageScope, own: Mapping[str, str]) -> None:
    of = {**bar.of("observations"), **own}
    sources = answers.counts("observations", "proof_count", **of, limit=ALL)
    is_narrowed = bool(own["search"] or own["freshness"] != ANY or bar.shown.days)
    draw_text(_facts_words(sources, is_narrowed=is_narrowed))
    total = sum_of(sources)
    first = (page_number(total, _ROWS) - 1) * _ROWS
    asking = {**of, "limit": f"{_ROWS}", "offset": f"{first}"}
    if total:
        rows = answers.rows("observations", _ROWS, **asking)
        table(
            rows,
            "observations",
            caption=f"Facts, most sources first: {first + 1:,} to {first + rows.height:,} of {total:,}",
            columns=[
                *("text", "confidence", "proof_count", "memories_count", "freshness", "trend", "project", "scope"),
                "observation_id",
            ],
        )
    draw_recipe_link("observations", **asking)


def _facts_words(sources: pl.DataFrame, *, is_narrowed: bool) -> str:
    """How many facts there are. `sources`: how many of them have how many sources."""
    total = sum_of(sources)
    if is_narrowed:
        return f"{number_of(total, 'fact fits', 'facts fit')}."
    if not total:
        return "No fact is known yet: that needs active memories."
    twice = sum_of(sources.filter(pl.col("proof_count") > 1))
    return f"{number_of(total, 'fact')}; {twice:,} of them with two distinct sources or more."


def _at_odds(answers: Answers, bar: PageScope) -> None:
    of = bar.of("contradicting_observations")
    total = answers.count("contradicting_observations", **of, limit=ALL)
    says = f"{number_of(total, 'pair')} of facts of which only one can be true: a person decides."
    draw_text(says if total else "No two facts contradict each other.")
    draw_rows(
        answers,
        "contradicting_observations",
        "Contradicting facts, most sources first",
        of,
        columns=["text", "proof_count", "contradicting_text", "contradicting_proof_count", "project"],
    )
    if total:
        command("review", "list", kind="contradiction", purpose="To decide")


def _states(answers: Answers, bar: PageScope) -> None:
    of = bar.of("state_changes")
    total = answers.counts("state_changes", "observation_id", **of, limit=ALL).height
    says = f"{number_of(total, 'fact has', 'facts have')} changed." if total else "No fact is known to have changed."
    draw_text(f"{says} Changes that only prose tells are found by a language model, not by the rules.")
    draw_rows(
        answers,
        "state_changes",
        "States of changed facts, oldest first",
        of,
        columns=[
            *("text", "attribute", "value", "from_at", "until_at", "memory_id", "subject", "step"),
            *("project", "observation_id"),
        ],
    )


def _curation(answers: Answers, bar: PageScope) -> None:
    of = bar.of("curation")
    counts = dict(answers.counts("curation", "action", **of, limit=ALL).iter_rows())
    found = [f"{counts[action]:,} {action}" for action in _ACTIONS if action in counts]
    draw_text(
        f"{join_words(found)}: proposals, which change nothing until a person decides with `slowwave review`."
        if found
        else "No memory was curated yet.",
    )
    action = choice("Action", "action", _ACTIONS, unchosen="All actions")
    of["action"] = pattern(action or None)
    draw_rows(
        answers,
        "curation",
        "Proposals, additions last, newest first",
        of,
        columns=[
            *("action", "memory_id", "content", "target_content", "reason", "kind", "similarity"),
            *("target_memory_id", "project", "changed_at", "method"),
        ],
    )
