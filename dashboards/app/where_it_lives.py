"""Where a memory lives: the store that it was imported from, what was pushed there when, and the command that would."""

from __future__ import annotations

from typing import Any

import polars as pl
import streamlit as st

from slowwave.dashboards.app.widgets import command, draw_text, section
from slowwave.dashboards.templates import render_template
from slowwave.flows.decide.decisions import landed_decisions
from slowwave.flows.kernel.settings import settings_from_environment
from slowwave.flows.kernel.terminal import shorten_to_width, terminal_safe
from slowwave.flows.kernel.times import utc_text
from slowwave.flows.lake.lake import Lake
from slowwave.flows.push.places import DOORS
from slowwave.transforms.imports.stores.store_state import PUSH, PUSH_UNDO, PushDecision, push_decisions

_SHOWN = 10
_SHOWN_CHARACTERS = 200


def where_it_lives(memory_id: str) -> None:
    """The section of a memory that came from a store; nothing for another. What was pushed is read from the lake."""
    store = memory_id.partition(":")[0]
    if store not in DOORS:
        return
    section("Where it lives", f"In {store}: it was imported from there, and scores can go back.")
    pushed = _read_push_decisions(memory_id)
    if pushed:
        newest = pushed[-_SHOWN:][::-1]
        facts = [
            (utc_text(one.decided_at), shorten_to_width(terminal_safe(_words(one)), _SHOWN_CHARACTERS))
            for one in newest
        ]
        st.html(render_template("facts.html.jinja", facts=facts))
    else:
        draw_text("Nothing was pushed there yet.")
    place = [pushed[-1].place] if pushed else []
    command("push", store, *place, purpose="Show what would be written to the store; with --yes it is")


def _read_push_decisions(memory_id: str) -> list[PushDecision]:
    decided = landed_decisions(Lake(settings_from_environment().lake_folder))
    of_memory = decided.filter(pl.col("target_kind") == "memory", pl.col("target") == pl.lit(memory_id))
    return [one for one in push_decisions(of_memory.collect()) if one.command in (PUSH, PUSH_UNDO)]


def _words(one: PushDecision) -> str:
    what = ", ".join(f"{name.replace('is_', '')} {_value(value)}" for name, value in one.after.items())
    return f"{'taken back: ' if one.command == PUSH_UNDO else ''}{what} (in {one.place})"


def _value(value: Any) -> str:  # noqa: ANN401 - whatever a store holds
    if isinstance(value, dict):
        return " and ".join(f"{name} {said}" for name, said in sorted(value.items()))
    return "none" if value is None else str(value)
