"""One memory: what it says, why it has its verdict, every count with the interactions behind it, and what to do.

Also where it lives: the store that it was imported from, what was pushed there when, and the command that would.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import polars as pl
import streamlit as st

from slowwave.dashboards.app.deciding import decision, landed_decision
from slowwave.dashboards.app.grid import GridColumn, draw_grid
from slowwave.dashboards.app.own_page import are_decisions_allowed
from slowwave.dashboards.app.scope import scope_bar
from slowwave.dashboards.app.widgets import (
    PAGE_ROWS,
    choice,
    command,
    csv_of,
    draw_chart,
    draw_recipe_link,
    draw_rows,
    draw_text,
    draw_text_field,
    notice,
    page_number,
    section,
    table,
    whole_text,
)
from slowwave.dashboards.charts import memories
from slowwave.dashboards.cookbook.answers import ALL
from slowwave.dashboards.cookbook.cookbook import exactly
from slowwave.dashboards.cookbook.published import Published
from slowwave.dashboards.links import project_view, view
from slowwave.dashboards.templates import render_template
from slowwave.dashboards.words import interval, number_of, part, project_label, sentence, shown_of
from slowwave.flows.ask.why.text import (
    MEANINGS,
    NEVER_FOUND,
    identity_words,
    lift_words,
    planned_words,
    stated_use,
    use_words,
)
from slowwave.flows.decide.decisions import landed_decisions
from slowwave.flows.kernel.declared_columns import FACTS, LABELS
from slowwave.flows.kernel.settings import settings_from_environment
from slowwave.flows.kernel.terminal import shorten_to_width, terminal_safe
from slowwave.flows.kernel.times import utc_text
from slowwave.flows.lake.lake import Lake
from slowwave.flows.lake.lifetime.tombstones import read_tombstones
from slowwave.flows.push.places import DOORS
from slowwave.transforms.imports.stores.store_state import PUSH, PUSH_UNDO, PushDecision, push_decisions

Memory = dict[str, Any]

_LONGEST_ID = 100_000
_SHOWN_CHARACTERS = 4_000
_SHOWN_DAYS = 30
_SHOWN_NAME = 80
# by name in the address: what is counted, as `why` calls it, and the column that counts it
_COUNTS = {
    "eligible": ("eligible", "eligible_count"),
    "injected": ("injected", "injected_count"),
    "stale": ("stale", "stale_injected_count"),
    "echoed": ("echoed", "echoed_count"),
    "used": ("used", "used_count"),
    "cited": ("cited", "cited_count"),
    "followed": ("followed", "followed_count"),
    "not followed": ("not_followed", "not_followed_count"),
    "referenced": ("references", "reference_count"),
    "confirmed": ("confirmed", "confirmed_count"),
    "contradicted": ("contradicted", "contradicted_count"),
}
_NOT_KNOWN = "not known"
_IN_USE = ("active", "candidate")
_FARTHEST = timedelta(days=366)


def memory_page(published: Published) -> None:
    """Draw the page of the memory that the address names."""
    bar = scope_bar(published, "One memory", "memory_over_time", is_compared=False)
    with bar.row:
        memory_id = draw_text_field("Memory id", "memory_id", placeholder="Memory id", most=_LONGEST_ID)
    if not memory_id:
        draw_text("Give an id above, or choose one of all memories.")
        st.html(
            render_template(
                "links.html.jinja", links=[("All memories", view("memories"))], label="Where memories are listed"
            )
        )
        return
    found = published.answer("memory", memory_id=memory_id)
    if found.is_empty():
        _unknown(published, memory_id)
        return
    memory = found.row(0, named=True)
    landed_decision()
    _text(memory)
    planned = published.answer("forgetting_plan", memory_id=exactly(memory_id))
    _verdict(memory, planned)
    tabs = st.tabs(["What you can do", "Interactions", "Its state", "Outcomes", "Day by day", "What it states"])
    with tabs[0]:
        _to_do(published, memory, is_planned=planned.height > 0)
    with tabs[1]:
        _counts(published, memory, bar.of("memory_references_of"))
    with tabs[2]:
        _state(published, memory)
        where_it_lives(memory_id)
    with tabs[3]:
        _outcomes(published, memory)
    with tabs[4]:
        _days(published, memory_id, bar.of("memory_over_time"))
    with tabs[5]:
        _observations(published, memory_id)


def _erased_at(memory: Memory) -> datetime | None:
    """When a memory of which nothing is known was erased; None: it was not."""
    keys = read_tombstones(settings_from_environment().lake_folder) if memory["status"] is None else None
    return keys.erased_at("memories", memory["memory_id"]) if keys else None


def _unknown(published: Published, memory_id: str) -> None:
    as_of = f" as of {utc_text(published.as_of)}" if published.as_of else ""
    notice("warning", f"no memory {shorten_to_width(terminal_safe(memory_id), 200)} is known{as_of}")
    near = published.answer("near_memories", memory_id=memory_id[:_SHOWN_CHARACTERS])
    if near.is_empty():
        draw_text("No id is like it: `slowwave why` also explains interactions, strategies, errors and outcomes.")
        return
    table(near, "near_memories", caption="Memories with a similar id")
    draw_recipe_link("near_memories", memory_id=memory_id)


def _text(memory: Memory) -> None:
    section("What it says", sentence(terminal_safe(identity_words(memory, _erased_at(memory)))))
    content = memory["content"]
    if not content:
        draw_text("Its text is not known." if content is None else "Its text is empty.")
        return
    if not whole_text(content, label="Text of the memory"):
        st.download_button(
            "Download the whole text", content, file_name="memory.txt", mime="text/plain", on_click="ignore"
        )


def _verdict(memory: Memory, planned: pl.DataFrame) -> None:
    section(f"Verdict: {memory['verdict']}")
    reasons = [terminal_safe(reason) for reason in memory["reasons"]]
    st.html(render_template("reasons.html.jinja", reasons=reasons, label="Why it has this verdict"))
    draw_recipe_link("why_verdict", memory_id=memory["memory_id"])
    if planned.height:
        draw_text(planned_words(planned.row(0, named=True)))
        draw_recipe_link("forgetting_plan", memory_id=exactly(memory["memory_id"]))


def _state(published: Published, memory: Memory) -> None:
    memory_id = memory["memory_id"]
    draw_text(use(memory))
    facts = [
        ("Created", utc_text(memory["created_at"]) if memory["created_at"] else _NOT_KNOWN),
        ("Last changed", _last_changed(memory)),
        ("Referenced", _span(memory)),
        ("Referenced before, as its store counted", stated_use(memory) or "not said"),
        ("Importance", _NOT_KNOWN if memory["importance"] is None else part(memory["importance"])),
        ("Pinned or held", _protection_text(memory)),
        ("Score by quotes", _score_by_quotes(memory["reinforced_confidence"])),
        ("Review priority", _review_value(memory["review_value"])),
        *(
            (LABELS.get(name, name.replace("_", " ")).capitalize(), _fact(memory[name]))
            for name in FACTS
            if memory.get(name)
        ),
    ]
    st.html(render_template("facts.html.jinja", facts=facts))
    draw_recipe_link("memory", memory_id=memory_id)
    draw_chart(memories.memory_strength(published.answer("memory_strength", memory_id=memory_id)))
    draw_recipe_link("memory_strength", memory_id=memory_id)


def _fact(value: object) -> str:
    """Return a field of a memory as a line shows it."""
    if isinstance(value, datetime):
        return utc_text(value)
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return shorten_to_width(terminal_safe(text), _SHOWN_CHARACTERS)


def use(memory: Memory) -> str:
    """What its use says of it; a day of fading that is more than a year away is no forecast to tell."""
    fades_at, as_of = memory["fades_at"], memory["as_of"]
    is_far = fades_at is not None and fades_at - as_of > _FARTHEST
    words = use_words({**memory, "fades_at": None} if is_far else memory, as_of)
    far = "Without a new reference it does not fade within a year." if is_far else ""
    return " ".join(filter(None, (sentence(words) if words else "", far)))


def _last_changed(memory: Memory) -> str:
    if memory["changed_at"] is None:
        return _NOT_KNOWN
    by = shorten_to_width(terminal_safe(memory["changed_by"] or ""), _SHOWN_NAME)
    return (
        f"{utc_text(memory['changed_at'])}{f' by {by}' if by else ''}, {number_of(memory['changes_count'], 'change')}"
    )


def _span(memory: Memory) -> str:
    if memory["first_referenced_at"] is None:
        return NEVER_FOUND[memory["use_state"]]
    return f"{utc_text(memory['first_referenced_at'])} to {utc_text(memory['last_referenced_at'])}"


def _protection_text(memory: Memory) -> str:
    words = [word for word, says in (("pinned", memory["pinned"]), ("on hold", memory["is_held"])) if says]
    return " and ".join(words) or "no"


def _score_by_quotes(value: float | None) -> str:
    if value is None:
        return "not known: its owner stated none to begin with"
    return f"{part(value)}: what its owner stated, raised by each quote; it says nothing of success"


def _review_value(value: float | None) -> str:
    if value is None:
        return _NOT_KNOWN
    return f"{value:.3g} successes gained per minute of review, if its assumptions hold"


def _counts(published: Published, memory: Memory, days: Mapping[str, str]) -> None:
    """The counts, and the interactions behind the one that the address names."""
    memory_id = memory["memory_id"]
    known = {name: memory[column] for name, column in _COUNTS.values()}
    draw_grid(
        [
            GridColumn("count", "Count", "", pl.Series("count", list(known))),
            GridColumn("number", "Interactions", "", pl.Series("number", list(known.values()), dtype=pl.Int64)),
            GridColumn("meaning", "What is counted", "", pl.Series("meaning", [MEANINGS[name] for name in known])),
        ],
        caption="Interactions counted for this memory",
    )
    chosen = choice(
        "Interactions behind",
        "counted",
        list(_COUNTS),
        unchosen="injected, quoted, used or cited",
        shown=lambda name: _COUNTS[name][0],
    )
    if chosen == "eligible":
        draw_text(
            f"It was eligible for {number_of(memory['eligible_count'], 'interaction')}, counted per day; this command "
            "lists them:"
        )
        command("why", memory_id, format="json", purpose="Every interaction of every count")
        return
    if chosen == "stale":
        draw_text(f"It was injected {number_of(memory['stale_injected_count'], 'time')} while it was no longer in use:")
        command("why", memory_id, format="json", purpose="Every interaction of every count")
        return
    _interactions(published, {"memory_id": memory_id, "counted": chosen, **days})


def _interactions(published: Published, of: Mapping[str, str]) -> None:
    count = published.count("memory_references_of", **of, limit=ALL)
    if not count:
        draw_text("There is none.")
        draw_recipe_link("memory_references_of", **of)
        return
    first = (page_number(count) - 1) * PAGE_ROWS
    asking = {**of, "limit": str(PAGE_ROWS), "offset": str(first)}
    rows = published.answer("memory_references_of", **asking)
    table(
        rows,
        "memory_references_of",
        caption=f"{first + 1:,} to {first + rows.height:,} of {number_of(count, 'interaction')}, newest first",
    )
    st.download_button(
        "Download these rows as CSV", csv_of(rows), file_name="interactions.csv", mime="text/csv", on_click="ignore"
    )
    draw_recipe_link("memory_references_of", **asking)


def _outcomes(published: Published, memory: Memory) -> None:
    """How the attempts that referenced it ended, in the words that say no more than was measured."""
    succeeded, failed, expected = (
        memory[name] for name in ("confirmed_count", "contradicted_count", "contradicted_expected")
    )
    if not succeeded + failed:
        draw_text("No attempt with a known outcome referenced it, so its confidence is not known.")
    else:
        beside = "" if expected is None else f"; {expected:.1f} expected"
        draw_text(
            f"Referenced in {number_of(succeeded, 'successful attempt')} and {number_of(failed, 'failed one')}{beside}."
        )
    of = {"memory_id": memory["memory_id"]}
    with published.answers() as answers:
        draw_rows(answers, "memory_ends", "Outcomes by basis; inferred ones are not counted", of)
    if memory["confidence"] is not None:
        limits = interval(memory["confidence_low"], memory["confidence_high"])
        draw_text(f"Confidence {part(memory['confidence'])} from outcomes; 90 % credible interval {limits}.")
    lift = lift_words(memory)
    if lift:
        draw_text(sentence(terminal_safe(lift)))


def _days(published: Published, memory_id: str, days: Mapping[str, str]) -> None:
    rows = published.answer("memory_over_time", memory_id=memory_id, **days)
    draw_text("" if rows.height else "Nothing about it changed on any day yet.")
    if rows.height:
        newest = rows.tail(_SHOWN_DAYS).reverse()
        caption = shown_of("Days on which its use changed, newest first", newest.height, rows.height)
        table(newest, "memory_over_time", caption=caption)
    draw_recipe_link("memory_over_time", memory_id=memory_id, **days)


def _observations(published: Published, memory_id: str) -> None:
    of = {"memory_id": memory_id}
    labels = {"confidence": "Mean confidence of their memories"}
    with published.answers() as answers:
        if not answers.count("memory_observations", **of):
            draw_text("It states no observation: only active memories do.")
        draw_rows(
            answers, "memory_observations", "Observations that it states, stated, or contradicts", of, labels=labels
        )
        draw_rows(answers, "memory_curation", "What curation proposes", of)


def _to_do(published: Published, memory: Memory, *, is_planned: bool) -> None:
    memory_id = memory["memory_id"]
    may_decide = are_decisions_allowed()
    draw_text("" if may_decide else "This page changes nothing: these commands do.")
    command("why", memory_id, all=True, purpose="All of this in the terminal")
    waiting = published.answer("memory_review", memory_id=memory_id)
    if waiting.height:
        table(waiting, "memory_review", caption="Items in review")
        draw_recipe_link("memory_review", memory_id=memory_id)
    for row in waiting.iter_rows(named=True):
        command("review", "show", row["item_id"], purpose=f"Decide what needs review ({row['kind']})")
    if (memory["status"] == "active" or is_planned) and not memory["is_held"]:
        decision("forget", "hold", memory_id, reason="why it stays", purpose="Keep it from being forgotten")
    if memory["is_held"]:
        decision("forget", "release", memory_id, reason="why it may go", purpose="Let it be forgotten again")
    if memory["status"] is not None:  # else it was never landed
        text, given = "what it shall say", memory["content"] or ""
        decision("memory", "edit", memory_id, content=text, purpose="Change what it says", asks="content", given=given)
    if memory["status"] in _IN_USE:
        decision("memory", "invalidate", memory_id, reason="what is wrong with it", purpose="Reject it: it is wrong")
    if may_decide and memory["status"] is not None:
        if memory["status"] == "archived":
            decision("forget", "restore", memory_id, purpose="Bring it back, if `forget apply` archived it")
        else:
            decision("memory", "archive", memory_id, purpose="Put it away")
        decision("memory", "undo", memory_id, purpose="Take back the last change that `slowwave memory` made of it")
    if memory["project"] is not None:
        project = memory["project"]
        links = [
            (f"{what} of {project_label(project)}", project_view(what.lower(), project))
            for what in ("Memories", "Interactions")
        ]
        st.html(render_template("links.html.jinja", links=links, label="Where to go on"))


_SHOWN = 10
_SHOWN_STORE_CHARACTERS = 200


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
            (utc_text(one.decided_at), shorten_to_width(terminal_safe(_words(one)), _SHOWN_STORE_CHARACTERS))
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
