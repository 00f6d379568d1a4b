"""The panel beside a page: what one thing is, on one screen, as `slowwave why` says it.

The address names the thing (`open=interaction:ID`), so that a link shows it again; Esc closes the panel. The facts are
those of `screen_facts`, which a terminal shows too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qsl

import polars as pl
import streamlit as st

from slowwave.dashboards.app.deciding import is_deciding, landed_decision
from slowwave.dashboards.app.grid import GridColumn, draw_grid, open_thing
from slowwave.dashboards.app.item_decisions import item_decisions, item_neighbours
from slowwave.dashboards.app.marks import MarkedSpan, cut_spans, mark_text
from slowwave.dashboards.app.thing_events import memory_events, strategy_events
from slowwave.dashboards.app.widgets import address, command, draw_chart, draw_text, notice
from slowwave.dashboards.charts.timelines import event_timeline
from slowwave.dashboards.cookbook.published import Published
from slowwave.dashboards.links import CASE, OPEN, memory_link, view
from slowwave.dashboards.templates import render_template
from slowwave.flows.ask.why.layout import Fact
from slowwave.flows.ask.why.learning import with_case_first
from slowwave.flows.ask.why.lookup import Publish
from slowwave.flows.ask.why.screens import screen_facts
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import settings_from_environment
from slowwave.flows.kernel.terminal import shorten_to_width, terminal_safe

Record = dict[str, Any]

_WIDTH = 660
_ROOM = 570  # beside the boxes of its grids
_WHOLE, _MOST = 900, 20_000  # characters of a prompt or an answer: shown at once, and at all
_SHOWN, _SHOWN_ID = 600, 60
# what the panel shows in another way
_DRAWN_APART = frozenset({"prompt", "answer", "as of", "look next"})
_TEXTS = {"memory": "content", "item": "text", "observation": "text"}
_KINDS = {
    "memory": "Memory",
    "interaction": "Interaction",
    "strategy": "Strategy",
    "item": "Review item",
    "observation": "Observation",
    "error": "Error",
    "outcome": "Outcome",
    "run": "Run",
}
_PLAIN_ID = re.compile(r"[A-Za-z0-9.-]{1,40}")
_CONTENTS = "SELECT memory_id, content FROM memory_health WHERE list_contains($ids, memory_id)"


def draw_panel(published: Published) -> None:
    """Draw the panel where the address names a thing, unless somebody decides: there is one dialog at a time."""
    if address(OPEN) and not is_deciding():
        title = panel_title(address(OPEN))
        st.dialog(title, width=_WIDTH, position="right", on_dismiss=lambda: open_thing({}))(_panel)(published)


def panel_title(named: str) -> str:
    """Return what kind of thing is shown, with its id where Markdown, which a title is, shows that as it stands."""
    kind, _, id_ = named.partition(":")
    title = _KINDS.get(kind, "What is known of it")
    return f"{title} {id_}" if kind in _KINDS and _PLAIN_ID.fullmatch(id_) else title


def _panel(published: Published) -> None:
    if is_deciding() or not address(OPEN):  # a button of the panel was pressed: the page draws what comes next
        st.rerun()
    draw_thing(published)


def draw_thing(published: Published) -> None:
    """Draw the thing that the address names."""
    named = address(OPEN)
    try:
        with published.cursor() as cursor:
            lake = None if published.narrowed else settings_from_environment().lake_folder  # it holds texts of others
            publish = Publish(cursor, lake, published.run_id)
            found, case = publish.look_up_id(named), dict(parse_qsl(address(CASE)))
            found = with_case_first(found, case) if case else found
            contents = _contents(publish, found)
    except UserError as error:
        notice("warning", terminal_safe(str(error)), "what landed after the publish is known from the next nightly on")
        return
    landed_decision(in_panel=True)
    kind = found["kind"]
    apart = _DRAWN_APART | ({"text"} if kind in _TEXTS else set())
    facts = [fact for fact in screen_facts(found) if fact.label not in apart]
    if kind in _TEXTS:
        _draw_marked_text("Text", [MarkedSpan((found[kind][_TEXTS[kind]] or "(its text is not known)")[:_MOST], "")])
    st.html(render_template("facts.html.jinja", facts=_texts(facts)))
    if kind == "interaction":
        _words(found, contents)
    elif kind == "memory":
        draw_chart(event_timeline(*memory_events(found, has_lake=lake is not None)))
    elif kind == "strategy":
        draw_chart(event_timeline(*strategy_events(found)))
    for fact in [fact for fact in facts if fact.rows]:
        _rows(fact, named)
    if kind == "item":
        _item(published, found)
    _further(found, named)


def _texts(facts: Sequence[Fact]) -> list[tuple[str, str]]:
    """What facts say, a label before the first text of each; what heads rows stands above these."""
    return [
        ("" if number else fact.label.capitalize(), _shorten(text))
        for fact in facts
        if not fact.rows
        for number, text in enumerate(filter(None, fact.texts))
    ]


def _rows(fact: Fact, named: str) -> None:
    """The things that a fact names as rows that open them."""
    rows = fact.rows
    ids = [_shorten(row.thing.partition(":")[2] or row.thing, _SHOWN_ID) for row in rows]
    columns = [
        GridColumn("id", "What", "", pl.Series("id", ids)),
        GridColumn("says", "Says", "", pl.Series("says", [_shorten(row.says) for row in rows])),
    ]
    times = pl.Series("at", [row.at for row in rows], dtype=pl.Datetime("us"))
    if times.count():
        columns.append(GridColumn("at", "When", "", times))
    head = ": ".join([fact.label.capitalize(), *fact.texts]).rstrip(":")
    key = f"panel {named} {fact.label}"
    draw_grid(columns, caption=head, opens=[{OPEN: row.thing} for row in rows], key=key, room=_ROOM)


def _shorten(text: str, most: int = _SHOWN) -> str:
    return shorten_to_width(terminal_safe(shorten_to_width(text, most)), most)


def _contents(publish: Publish, found: Record) -> dict[str, str]:
    """Texts of the memories that an interaction quotes or uses."""
    if found["kind"] != "interaction":
        return {}
    ids = [row["memory_id"] for row in (*found["echoed"], *found["used"])]
    return {row["memory_id"]: row["content"] or "" for row in publish.records(_CONTENTS, ids=ids)}


def _words(found: Record, contents: dict[str, str]) -> None:
    """The prompt and the answer, with the words of memories marked in them."""
    quotes = [contents.get(row["memory_id"], "") for row in found["echoed"]]
    in_prompt = [contents.get(row["memory_id"], "") for row in found["echoed"] if row["in_prompt"]]
    used = [row["passage"] or contents.get(row["memory_id"], "") for row in found["used"]]
    params = settings_from_environment().params().evidence
    if found["prompt"]:
        _draw_marked_text("Prompt", mark_text(found["prompt"][:_MOST], in_prompt, [], params))
    if found["response"]:
        _draw_marked_text("Answer", mark_text(found["response"][:_MOST], quotes, used, params))
    if quotes or used:
        draw_text("Marked: what it quotes of a memory. Underlined: longer words that it shares with a memory it uses.")


def _draw_marked_text(label: str, spans: list[MarkedSpan]) -> None:
    first, rest = cut_spans(spans, _WHOLE)
    st.html(render_template("caption.html.jinja", text=label))
    # hand-made: no part of Streamlit marks words in a text that it does not take for Markdown
    st.html(render_template("marked.html.jinja", spans=_safe(first), label=label))
    if rest:
        with st.expander(f"The rest of it: {sum(len(span.text) for span in rest):,} characters"):
            st.html(render_template("marked.html.jinja", spans=_safe(rest), label=f"{label}, the rest"))


def _safe(spans: Sequence[MarkedSpan]) -> list[MarkedSpan]:
    return [MarkedSpan("\n".join(map(terminal_safe, span.text.split("\n"))), span.kind) for span in spans]


def _item(published: Published, found: Record) -> None:
    if found["is_waiting"]:
        item_decisions(found["item"], [row["memory_id"] for row in found["memories"]])
        item_neighbours(published, found["item_id"])


def _further(found: Record, named: str) -> None:
    """Where there is more of it."""
    kind = found["kind"]
    links: list[tuple[str, str]] = []
    if kind == "memory":
        links = [("Its whole page: every count, and what you can do", memory_link(found["memory_id"]))]
    elif kind == "interaction" and found["session_id"]:
        links = [("Its whole session", view("interactions", session=found["session_id"]))]
    if links:
        st.html(render_template("links.html.jinja", links=links, label="Where there is more"))
    if kind != "item":
        command("why", named, all=True, purpose="All of it in a terminal")
