"""The page of the review queue and the forgetting plan: what needs a decision, and how to make it."""

from __future__ import annotations

from datetime import datetime

import polars as pl
import streamlit as st

from slowwave.dashboards.app.deciding import decision, decisions_on_items, landed_decision
from slowwave.dashboards.app.decision_commands import decided_since
from slowwave.dashboards.app.own_page import are_decisions_allowed
from slowwave.dashboards.app.scope import PageScope, compared_counts, scope_bar
from slowwave.dashboards.app.widgets import (
    choice,
    command,
    draw_recipe_link,
    draw_rows,
    draw_text,
    notice,
    page_number,
    pattern,
    table,
)
from slowwave.dashboards.cookbook.answers import Answers
from slowwave.dashboards.cookbook.published import Published
from slowwave.dashboards.links import opened_by, project_view
from slowwave.dashboards.report import night_story as story
from slowwave.dashboards.words import number_of
from slowwave.flows.kernel.errors import UserError
from slowwave.transforms.core.vocabularies import REVIEW_KINDS

_MOST = 100_000
_ROWS = 20
_SHOWN = 100
_QUEUE_COLUMNS = ("text", "kind", "reason", "sessions", "interactions", "succeeded", "failed", "project")


def review_page(published: Published) -> None:
    """Draw the page."""
    bar = scope_bar(published, "Review", "review_queue")
    with bar.row:
        kind = choice("Kind", "kind", REVIEW_KINDS, unchosen="All kinds", is_bare=True)
    if are_decisions_allowed():
        landed_decision()
    else:
        draw_text("This page changes nothing: copy its commands and run them in a terminal.")
    with published.answers() as answers:
        compared_counts(bar, "review_queue", "kind", kind=pattern(kind or None))
        waiting, planned, past, compared = st.tabs(["Queue", "Forgetting plan", "Decisions", "Model and rules"])
        with waiting:
            _queue(answers, bar, kind, published.as_of if are_decisions_allowed() else None)
        with planned:
            _plan(answers, bar)
        with past:
            _past(answers, bar)
        with compared:
            _draw_model_and_rules(answers, bar)


def _queue(answers: Answers, bar: PageScope, kind: str, decided_from: datetime | None) -> None:
    """The items that wait; with what was decided `decided_from` then on, where people may decide here."""
    of = bar.of("review_queue")
    draw_text(story.reviews(answers.counts("review_queue", "kind", **of), 0)[0])
    of |= {"kind": pattern(kind or None)}
    rows = answers.rows("review_queue", _MOST, **of)
    if kind:
        draw_text(f"{number_of(rows.height, 'item')} of this kind.")
    if rows.height:
        first = (page_number(rows.height, _ROWS) - 1) * _ROWS
        shown = rows.slice(first, _ROWS)
        decided = _decided(decided_from) if decided_from else {}
        if decided_from:
            shown = shown.with_columns(
                pl.Series("decided", [decided.get(item) for item in shown["item_id"]], pl.String)
            )
        chosen = table(
            shown,
            "review_queue",
            caption=f"Items, most important first: {first + 1:,} to {first + shown.height:,} of {rows.height:,}",
            columns=[
                _QUEUE_COLUMNS[0],
                *(["decided"] if decided else []),
                *_QUEUE_COLUMNS[1:],
                *(["user_id"] if shown["user_id"].count() else []),
            ],
            chooses_many=decided_from is not None,
        )
        if decided_from:
            decisions_on_items([shown["item_id"][row] for row in chosen])
    draw_recipe_link("review_queue", **of)
    links = {"project": lambda row: project_view("review", row["project"])}
    draw_rows(answers, "review_by_project", "Items per project", most=_ROWS, links=links)


def _decided(since: datetime) -> dict[str, str]:
    """What was decided since then; where that cannot be read, the queue is still of use."""
    try:
        return decided_since(since)
    except UserError as error:
        notice("warning", str(error))
        return {}


def _draw_model_and_rules(answers: Answers, bar: PageScope) -> None:
    """What a language model and the rules say of the same changes."""
    of = bar.of("model_and_rules")
    rows = answers.rows("model_and_rules", _SHOWN, **of).filter(pl.col("is_same").is_not_null())
    draw_text(*(story.both_asked(rows) if rows.height else ["No language model was asked."]))
    if rows.height:
        table(
            rows,
            "model_and_rules",
            caption="Changes that both judged, differences first",
        )
        draw_recipe_link("model_and_rules", **of)


def _plan(answers: Answers, bar: PageScope) -> None:
    of = bar.of("forgetting_plan")
    quotas = answers.rows("forgetting_quotas", _MOST)
    rules = answers.counts("forgetting_plan", "rule", "is_shadow", **of)
    draw_text(story.forgettable(rules, quotas)[0])
    only = {"project": bar.project} if bar.project else {}  # an empty word is taken for none
    columns = ["memory_id", "rule", "content", "reason", "need_30d", "strength", "is_shadow", "project"]
    rows = draw_rows(answers, "forgetting_plan", "Memories to archive, most urgent first", of, columns=columns)
    if rows.height:
        command("forget", "plan", purpose="To see the plan in a terminal", **only)
        command("forget", "apply", dry_run=True, purpose="To see what archiving would do", **only)
        held = choice("A memory to keep", "hold", rows["memory_id"].to_list(), unchosen="Choose one to hold")
        if held:
            decision("forget", "hold", held, reason="why it is kept", purpose="To keep it from ever being archived")
    draw_rows(answers, "forgetting_quotas", "Quotas, and whether the plan meets them")


def _past(answers: Answers, bar: PageScope) -> None:
    draw_rows(answers, "regret", "Archived memories needed within a month, and as predicted")
    if not any(answers.count(name, **bar.of(name)) for name in ("reviewed", "forgotten")):
        draw_text("Nothing was decided yet.")
    draw_rows(answers, "reviewed", "Decisions in review, newest first", bar.of("reviewed"))
    draw_rows(
        answers,
        "forgotten",
        "Memories archived, restored, held or released, newest first",
        bar.of("forgotten"),
        opens=lambda row: opened_by({"memory_id": row["target"]} if row["target_kind"] == "memory" else {}),
    )
