"""The panel beside a page: what one thing is, on one screen, as `slowwave why` says it.

The address names the thing (`open=interaction:ID`), so that a link shows it again; Esc closes the panel. The facts are
those of `screen_facts`, which a terminal shows too. Beside them: its timeline, what can be decided of an item of the
review queue, and where a memory's words stand in a text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

import polars as pl
import streamlit as st

from slowwave.dashboards.app.deciding import decision, is_deciding, landed_decision
from slowwave.dashboards.app.grid import GridColumn, draw_grid, open_thing
from slowwave.dashboards.app.own_page import are_decisions_allowed
from slowwave.dashboards.app.widgets import address, command, draw_chart, draw_text, notice, pattern
from slowwave.dashboards.charts.memories import Event, event_timeline
from slowwave.dashboards.cookbook.published import Published
from slowwave.dashboards.links import CASE, OPEN, memory_link, view
from slowwave.dashboards.templates import render_template
from slowwave.flows.ask.why.layout import Fact
from slowwave.flows.ask.why.learning import with_case_first
from slowwave.flows.ask.why.lookup import Publish
from slowwave.flows.ask.why.why import screen_facts
from slowwave.flows.decide.decisions import landed_decisions
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import settings_from_environment
from slowwave.flows.kernel.terminal import format_count, shorten_to_width, terminal_safe
from slowwave.flows.lake.lake import Lake
from slowwave.transforms.evidence.echo.echo import echo_pattern, normalise_text
from slowwave.transforms.evidence.params import PatternParams
from slowwave.transforms.imports.stores.store_state import PUSH, PUSH_UNDO

_ERRORS = 3


def memory_events(found: Record, *, has_lake: bool) -> tuple[str, list[Event], list[str]]:
    """Return a title, the events of a memory that `why` found, and its lanes. `has_lake`: decisions may be read."""
    by_lane = {
        "injected": [row["occurred_at"] for row in found["injected"]],
        "quoted or used": [row["occurred_at"] for row in found["references"]],
        "changed": [row["changed_at"] for row in found["changes"] if row["is_winning"]],
        "decided": [],
        "pushed": [],
    }
    for at, made_by in _decisions(found["memory_id"]) if has_lake else []:
        by_lane["pushed" if made_by in (PUSH, PUSH_UNDO) else "decided"].append(at)
    title = ", ".join(f"{lane} {len(times):,}" for lane, times in by_lane.items() if times).capitalize()
    return title, [(at, lane) for lane, times in by_lane.items() for at in times], list(by_lane)


def strategy_events(found: Record) -> tuple[str, list[Event], list[str]]:
    """Return a title, the attempts with a strategy in the first case, and its lanes: ends, common errors."""
    outcomes = found["uses"][0]["outcomes"] if found["uses"] else found["not_learned"]
    ended = [(row["created_at"], "succeeded" if row["success"] else "failed") for row in outcomes]
    failed = [(row["created_at"], row["error"]) for row in outcomes if row["error"] and not row["success"]]
    common = [error for error, _ in Counter(error for _, error in failed).most_common(_ERRORS)]
    title = f"{sum(row['success'] for row in outcomes):,} of {format_count(len(outcomes), 'attempt')} succeeded"
    return title, [*ended, *failed], ["succeeded", "failed", *common]


def _decisions(memory_id: str) -> list[tuple[Any, str]]:
    decided = landed_decisions(Lake(settings_from_environment().lake_folder))
    of_memory = decided.filter(pl.col("target_kind") == "memory", pl.col("target") == pl.lit(memory_id))
    return of_memory.select("decided_at", "command").collect().rows()


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


QUOTED, SHARED = "quoted", "shared"
_SHORTEST_WORD, _MOST_WORDS = 5, 200


class MarkedSpan(NamedTuple):
    """A piece of a text; `kind`: QUOTED, SHARED, or '' for what is neither."""

    text: str
    kind: str


def mark_text(text: str, quotes: Sequence[str], used: Sequence[str], params: PatternParams) -> list[MarkedSpan]:
    """Return a text in pieces, what of it stands in memories marked.

    Args:
        text: a prompt or an answer.
        quotes: texts of memories that it quotes: marked is the whole memory, or what `echo/1` found of it.
        used: texts of memories, or their passages, that it uses: marked are the longer words that both have.
        params: how much of a memory `echo/1` looks for.
    """
    marked = [""] * len(text)
    for shared in filter(None, [_shared_words(used)]):
        for found in shared.finditer(text):
            marked[found.start() : found.end()] = [SHARED] * len(found[0])
    for patterns in _quotes(quotes, params):
        found = next(filter(None, (pattern.search(text) for pattern in patterns)), None)
        if found:
            marked[found.start() : found.end()] = [QUOTED] * len(found[0])
    return _spans(text, marked)


def cut_spans(spans: Iterable[MarkedSpan], most: int) -> tuple[list[MarkedSpan], list[MarkedSpan]]:
    """Return the pieces up to `most` characters, and the rest."""
    first: list[MarkedSpan] = []
    rest: list[MarkedSpan] = []
    left = most
    for text, kind in spans:
        first += [MarkedSpan(text[:left], kind)] if left else []
        rest += [MarkedSpan(text[left:], kind)] if len(text) > left else []
        left = max(0, left - len(text))
    return first, rest


def _quotes(memories: Sequence[str], params: PatternParams) -> list[list[re.Pattern[str]]]:
    """Of each memory what may stand in a text: all of it, or as much as is looked for."""
    texts = pl.DataFrame({"text": memories}, schema={"text": pl.String})
    rows = texts.select(normalise_text(pl.col("text")), echo_pattern(pl.col("text"), params).alias("begin")).iter_rows()
    return [[_anywhere(whole), _anywhere(begin)] for whole, begin in rows if begin]


def _anywhere(words: str) -> re.Pattern[str]:
    return re.compile(r"\s+".join(map(re.escape, words.split())), re.IGNORECASE)


def _shared_words(used: Sequence[str]) -> re.Pattern[str] | None:
    words = dict.fromkeys(word for text in used for word in re.findall(r"\w+", text) if len(word) >= _SHORTEST_WORD)
    found = "|".join(map(re.escape, list(words)[:_MOST_WORDS]))
    return re.compile(rf"\b(?:{found})\b", re.IGNORECASE) if found else None


def _spans(text: str, marked: Sequence[str]) -> list[MarkedSpan]:
    starts = [at for at in range(len(text)) if at == 0 or marked[at] != marked[at - 1]]
    ends = [*starts[1:], len(text)]
    return [MarkedSpan(text[start:end], marked[start]) for start, end in zip(starts, ends, strict=bool(starts))]
