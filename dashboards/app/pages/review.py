"""The page of the review queue and the forgetting plan: what needs a decision, and how to make it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import polars as pl
import streamlit as st

from slowwave.dashboards.app.deciding import decision, decisions_on_items, landed_decision
from slowwave.dashboards.app.decisions import decided_since
from slowwave.dashboards.app.own_page import are_decisions_allowed
from slowwave.dashboards.app.scope import Chosen, compared_counts, scope_bar
from slowwave.dashboards.app.widgets import (
    address,
    asked,
    choice,
    command,
    notice,
    page_number,
    pattern,
    said,
    section,
    table,
    whole_text,
)
from slowwave.dashboards.cookbook.answers import Answers
from slowwave.dashboards.cookbook.cookbook import exactly
from slowwave.dashboards.cookbook.published import Published
from slowwave.dashboards.links import Row, memory_link, project_view
from slowwave.dashboards.report import night_story as story
from slowwave.dashboards.words import named, number_of, sentence, shown_of

_MOST = 100_000
_ROWS = 20
_SHOWN = 100
_QUEUE_COLUMNS = ("rank", "text", "kind", "reason", "sessions", "interactions", "succeeded", "failed", "project")
_KINDS = ("harmful", "contradiction", "outdated", "expiring", "candidate", "merge", "doubtful", "fading", "unused")
# what can be said of each kind, and what that does
_WORDS: dict[str, tuple[tuple[str, str], ...]] = {
    "candidate": (("promote", "To put it in use"), ("reject", "To reject it for good")),
    "contradiction": (("promote", "To keep both"), ("reject", "To make one side invalid, name it")),
    "outdated": (
        ("promote", "To keep both"),
        ("reject", "To make the later invalid"),
        ("merge", "To have the earlier superseded by the later"),
    ),
    "expiring": (("promote", "To let it stand 90 days longer"), ("reject", "To let it expire")),
    "merge": (("merge", "To have the others superseded"), ("reject", "To keep all, as they do not say the same")),
}
_OF_ONE_MEMORY = (("promote", "To keep it"), ("reject", "To make it invalid"))


def review_page(published: Published) -> None:
    """Draw the page."""
    bar = scope_bar(published, "Review", "review_queue")
    with bar.row:
        kind = choice("Kind", "kind", _KINDS, unchosen="All kinds", is_bare=True)
    if are_decisions_allowed():
        landed_decision()
    else:
        said("This page changes nothing: copy its commands and run them in a terminal.")
    with published.answers() as answers:
        _one(answers)
        if are_decisions_allowed():
            _neighbours(answers, bar, kind)
        compared_counts(bar, "review_queue", "kind", kind=pattern(kind or None))
        _queue(answers, bar, kind, published.as_of if are_decisions_allowed() else None)
        _compared(answers, bar)
        _plan(answers, bar)
        _past(answers, bar)


def _memory_row(row: Row) -> str:
    return memory_link(row["memory_id"])


def _one(answers: Answers) -> None:
    """All of one item, and what can be said of it, where the address names one."""
    item_id = address("item")
    if not item_id:
        return
    found = answers.rows("review_queue", 1, item_id=exactly(item_id))
    if found.is_empty():
        notice(
            "warning",
            "the address names an item that needs no review, or no longer",
            "what was decided stands at the end of this page",
        )
        return
    item = found.row(0, named=True)
    section(f"Item {item['rank']} of the queue: {item['kind']}", sentence(item["reason"]))
    whole_text(item["text"], label="The text of the item")
    said(_evidence_words(item))
    memories = answers.rows("review_memories", _SHOWN, item_id=item_id)
    if memories.height:
        table(memories, "review_memories", caption="Its memories", links={"memory_id": _memory_row})
        asked("review_memories", item_id=item_id)
    interactions = answers.rows("review_interactions", _ROWS, item_id=item_id)
    if interactions.height:
        caption = f"Its newest {interactions.height:,} interactions"
        table(interactions, "review_interactions", caption=caption)
        asked("review_interactions", item_id=item_id)
    st.subheader("Decide", anchor=False)
    command("review", "show", item_id, purpose="To see it whole, with prompts")
    for action, purpose in _WORDS.get(item["kind"], _OF_ONE_MEMORY):
        if item["kind"] == "contradiction" and action == "reject":
            for memory_id in memories["memory_id"].to_list():
                decision("review", "reject", item_id, memory=memory_id, purpose=purpose)
        else:
            decision("review", action, item_id, purpose=purpose)
    if item["kind"] == "candidate":
        if item["user_id"] is not None:
            purpose = "To put it in use for all users of its project"
            decision("review", "promote", item_id, scope="project", purpose=purpose)
        purpose = "To merge it into a memory that says it already"
        decision("review", "merge", item_id, into="MEMORY_ID", purpose=purpose, asks="into")
    said("`--dry-run` shows what a command would change; `--reason` records why.")


def _neighbours(answers: Answers, bar: Chosen, kind: str) -> None:
    """The items before and after the one that the address names, a key away."""
    of = bar.of("review_queue")
    ids = answers.rows("review_queue", _MOST, **of, kind=pattern(kind or None))["item_id"].to_list()
    if address("item") not in ids:
        return
    at = ids.index(address("item"))
    with st.container(horizontal=True):
        for label, to, key in (("Item before", at - 1, "k"), ("Next item", at + 1, "j")):
            if 0 <= to < len(ids):
                st.button(label, shortcut=key, on_click=st.query_params.update, args=({"item": ids[to]},))


def _evidence_words(item: Mapping[str, Any]) -> str:
    whose = "" if item["user_id"] is None else f"It belongs to user {named(item['user_id'])} alone. "
    if not item["interactions"]:
        return f"{whose}No interaction stands behind it."
    return (
        f"{whose}{number_of(item['interactions'], 'interaction')} in {number_of(item['sessions'], 'session')} behind it"
        f"; in {item['succeeded']:,} of them the latest attempt succeeded, in {item['failed']:,} it failed."
    )


def _queue(answers: Answers, bar: Chosen, kind: str, decided_from: datetime | None) -> None:
    """The items that wait; with what was decided `decided_from` then on, where people may decide here."""
    of = bar.of("review_queue")
    projects = answers.rows("review_by_project", _MOST)
    section("Queue", story.reviews(answers.counts("review_queue", "kind", **of), 0)[0])
    of |= {"kind": pattern(kind or None)}
    rows = answers.rows("review_queue", _MOST, **of)
    if kind:
        said(f"{number_of(rows.height, 'item')} of this kind.")
    if rows.height:
        first = (page_number(rows.height, _ROWS) - 1) * _ROWS
        shown = rows.slice(first, _ROWS)
        decided = decided_since(decided_from) if decided_from else {}
        if decided_from:
            shown = shown.with_columns(
                pl.Series("decided", [decided.get(item) for item in shown["item_id"]], pl.String)
            )
        chosen = table(
            shown,
            "review_queue",
            caption=f"Items, most important first: {first + 1:,} to {first + shown.height:,} of {rows.height:,}",
            columns=[
                *_QUEUE_COLUMNS[:2],
                *(["decided"] if decided else []),
                *_QUEUE_COLUMNS[2:],
                *(["user_id"] if shown["user_id"].count() else []),
            ],
            links={"text": lambda row: project_view("review", bar.project, kind=kind, item=row["item_id"])},
            chooses_many=decided_from is not None,
        )
        if decided_from:
            decisions_on_items([shown["item_id"][row] for row in chosen])
    asked("review_queue", **of)
    if projects.height:
        shown = projects.head(_ROWS)
        table(
            shown,
            "review_by_project",
            caption=shown_of("Items per project", shown.height, projects.height),
            links={"project": lambda row: project_view("review", row["project"])},
        )
        asked("review_by_project")


def _compared(answers: Answers, bar: Chosen) -> None:
    """What a language model and the rules say of the same changes; nothing where none has answered."""
    of = bar.of("model_and_rules")
    rows = answers.rows("model_and_rules", _SHOWN, **of).filter(pl.col("is_same").is_not_null())
    if rows.height:
        section("Language model and rules", " ".join(story.both_asked(rows)))
        table(
            rows,
            "model_and_rules",
            caption="Changes that both judged, differences first",
            links={"memory_id": _memory_row},
        )
        asked("model_and_rules", **of)


def _plan(answers: Answers, bar: Chosen) -> None:
    of = bar.of("forgetting_plan")
    quotas = answers.rows("forgetting_quotas", _MOST)
    rules = answers.counts("forgetting_plan", "rule", "is_shadow", **of)
    section("Forgetting plan", story.forgettable(rules, quotas)[0])
    total = answers.count("forgetting_plan", **of)
    only = {"project": bar.project} if bar.project else {}  # an empty word is taken for none
    rows = answers.rows("forgetting_plan", _SHOWN, **of)
    if rows.height:
        table(
            rows,
            "forgetting_plan",
            caption=shown_of("Memories to archive, most urgent first", rows.height, total),
            columns=["memory_id", "rule", "content", "reason", "need_30d", "strength", "is_shadow", "project"],
            links={"memory_id": _memory_row},
        )
        command("forget", "plan", purpose="To see the plan in a terminal", **only)
        command("forget", "apply", dry_run=True, purpose="To see what archiving would do", **only)
        held = choice("A memory to keep", "hold", rows["memory_id"].to_list(), unchosen="Choose one to hold")
        if held:
            decision("forget", "hold", held, reason="why it is kept", purpose="To keep it from ever being archived")
    asked("forgetting_plan", **of)
    if quotas.height:
        shown = quotas.head(_SHOWN)
        caption = shown_of("Quotas, and whether the plan meets them", shown.height, quotas.height)
        table(shown, "forgetting_quotas", caption=caption)
        asked("forgetting_quotas")


def _past(answers: Answers, bar: Chosen) -> None:
    regret = answers.rows("regret", _SHOWN)
    section(
        "Archived, but needed later",
        "" if regret.height else "Not known yet: that needs a month after memories were archived.",
    )
    if regret.height:
        table(regret, "regret", caption="Archived memories needed within a month, and as predicted")
    asked("regret")
    reviewed = answers.rows("reviewed", _SHOWN, **bar.of("reviewed"))
    forgotten = answers.rows("forgotten", _SHOWN, **bar.of("forgotten"))
    section("Decisions", "" if reviewed.height or forgotten.height else "Nothing was decided yet.")
    if reviewed.height:
        table(reviewed, "reviewed", caption="Decisions in review, newest first")
        asked("reviewed", **bar.of("reviewed"))
    if forgotten.height:
        table(
            forgotten,
            "forgotten",
            caption="Memories archived, restored, held or released, newest first",
            links={"target": lambda row: memory_link(row["target"]) if row["target_kind"] == "memory" else ""},
        )
        asked("forgotten", **bar.of("forgotten"))
