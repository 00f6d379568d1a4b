"""What can be said of an item of the review queue, and the items before and after it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from slowwave.dashboards.app.deciding import decision
from slowwave.dashboards.app.grid import open_thing
from slowwave.dashboards.app.own_page import are_decisions_allowed
from slowwave.dashboards.app.widgets import address, command, draw_text, pattern
from slowwave.dashboards.cookbook.published import Published
from slowwave.dashboards.links import OPEN

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


def item_decisions(item: dict[str, Any], memory_ids: Sequence[str]) -> None:
    """Draw what can be said of an item; `memory_ids`: of the memories that it is about."""
    item_id = item["item_id"]
    command("review", "show", item_id, purpose="To see it whole, with prompts")
    for action, purpose in _WORDS.get(item["kind"], _OF_ONE_MEMORY):
        if item["kind"] == "contradiction" and action == "reject":
            for memory_id in memory_ids:
                decision("review", "reject", item_id, memory=memory_id, purpose=purpose)
        else:
            decision("review", action, item_id, purpose=purpose)
    if item["kind"] == "candidate":
        if item["user_id"] is not None:
            purpose = "To put it in use for all users of its project"
            decision("review", "promote", item_id, scope="project", purpose=purpose)
        purpose = "To merge it into a memory that says it already"
        decision("review", "merge", item_id, into="MEMORY_ID", purpose=purpose, asks="into")
    if not are_decisions_allowed():
        draw_text("`--dry-run` shows what a command would change; `--reason` records why.")


def item_neighbours(published: Published, item_id: str) -> None:
    """Draw the ways to the items before and after one, a key each, where people decide on one after the other."""
    project = "" if address("no_project") else address("project") or None
    of = {"project": pattern(project), "kind": pattern(address("kind") or None)}
    ids = published.answer("review_queue", **of)["item_id"].to_list()
    if item_id not in ids or not are_decisions_allowed():
        return
    at = ids.index(item_id)
    with st.container(horizontal=True):
        for label, to, key in (("Item before", at - 1, "k"), ("Next item", at + 1, "j")):
            if 0 <= to < len(ids):
                st.button(label, shortcut=key, on_click=open_thing, args=({OPEN: f"item:{ids[to]}"},))
