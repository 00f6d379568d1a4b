"""How a person decides on a page: a button beside each command, a dialog with what it would change, and an undo.

Without `slowwave dashboard --allow-decisions` there is the command to copy, and nothing else. A dialog has a number
that is used once: what is sent again, or from a dialog that was left, lands nothing.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from slowwave.dashboards.app.decision_commands import (
    CommandPreview,
    DecisionCommand,
    LandedDecision,
    land_decision,
    preview_decision,
)
from slowwave.dashboards.app.own_page import are_decisions_allowed, may_decide
from slowwave.dashboards.app.widgets import address, command, draw_text, notice
from slowwave.dashboards.links import OPEN
from slowwave.dashboards.templates import render_template
from slowwave.dashboards.words import number_of
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.terminal import shorten_to_width, terminal_safe
from slowwave.transforms.core.hashing import digest

# in the session: the open dialog's number and what it is about, who decided last; what landed last, why another did not
_OPEN, _ASKED, _DECIDER = "decision_open", "decision_asked", "decision_by"
_LANDED, _FAILED = "decision_landed", "decision_failed"
_MOST_CHARACTERS, _MOST_CONTENT = 500, 100_000
_SHOWN_CHARACTERS, _SHOWN_CHANGES = 600, 60
_claiming = threading.Lock()


def decision(*words: str, purpose: str, asks: str = "", given: str = "", **options: str) -> None:
    """A command by which somebody decides, to copy, and where that is allowed a button that does the same.

    Args:
        words: the group, the command and its targets.
        purpose: what it is for.
        asks: the option whose value the dialog asks for; '' none.
        given: the value it begins with.
        options: of the command, as it is shown.
    """
    if not are_decisions_allowed():
        command(*words, purpose=purpose, **options)
        return
    group, verb, *targets = words
    known = {name: value for name, value in options.items() if name not in {"reason", asks}}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        with st.container():
            command(*words, purpose=purpose, **options)
        st.button(
            verb.capitalize(),
            key=f"decide {digest([*words, *known.values()])}",
            on_click=_open,
            args=(DecisionCommand(group, verb, tuple(targets), known), asks, given),
        )


def decisions_on_items(item_ids: Sequence[str]) -> None:
    """What can be said of all chosen items of the queue at once."""
    if not item_ids:
        draw_text("Choose items by the boxes of their rows to decide on several at once.")
        return
    with st.container(horizontal=True):
        for verb in ("promote", "reject", "merge"):
            st.button(
                f"{verb.capitalize()} {number_of(len(item_ids), 'item')}",
                key=f"decide all {verb}",
                on_click=_open,
                args=(DecisionCommand("review", verb, tuple(item_ids)),),
            )


def landed_decision(*, in_panel: bool = False) -> None:
    """What became of the last decision of this session, and what takes it back: in the panel, while that is open."""
    landed: LandedDecision | None = st.session_state.get(_LANDED)
    if landed is None or not are_decisions_allowed() or bool(address(OPEN)) != in_panel:
        return
    notice("note", terminal_safe(landed.says), "pages show the tables that the last nightly published")
    if landed.undo is None:
        return
    # what was a candidate does not become one again
    label = f"{landed.undo.verb.capitalize()} instead" if landed.undo.group == "review" else "Undo"
    st.button(label, on_click=_open, args=(landed.undo,))


def _open(chosen: DecisionCommand, asks: str = "", given: str = "") -> None:
    st.session_state[_OPEN] = number = secrets.token_urlsafe(16)
    st.session_state.pop(_FAILED, None)
    st.session_state[_ASKED] = (chosen, number, asks, given)


def is_deciding() -> bool:
    """Whether a dialog asks for a decision."""
    return _ASKED in st.session_state


def draw_deciding() -> None:
    """Draw the dialog that asks for a decision, where a button was pressed."""
    if is_deciding():
        _dialog(*st.session_state[_ASKED])


def _leave() -> None:
    for name in (_OPEN, _ASKED):
        st.session_state.pop(name, None)


@st.dialog("Decide", width="large", on_dismiss=_leave)
def _dialog(chosen: DecisionCommand, number: str, asks: str, given: str) -> None:
    if st.session_state.get(_OPEN) != number:  # it has landed
        st.rerun()
    above, below = st.container(), st.container()  # a form that moves as what is above it changes stands there twice
    with above:
        found = _preview(chosen, number, asks, given)
    if found is None:
        return
    chosen, preview = found
    failed = st.session_state.pop(_FAILED, "")
    with below.form(f"decide {number}"):
        decider = st.session_state.get(_DECIDER, "")
        st.text_input("Who decides", decider, key=f"by {number}", max_chars=_MOST_CHARACTERS)
        st.text_input("Why", key=f"reason {number}", max_chars=_MOST_CHARACTERS)
        st.form_submit_button(
            f"Land this {chosen.verb}", key=f"land {number}", on_click=_land, args=(chosen, preview, number, asks)
        )
    if failed:
        with below:
            notice("error", terminal_safe(failed))


def _preview(
    chosen: DecisionCommand, number: str, asks: str, given: str
) -> tuple[DecisionCommand, CommandPreview] | None:
    """Draw the command and what it would change, and return both; None where that cannot be said, and why is."""
    if asks:
        chosen = replace(chosen, options={**chosen.options, asks: _draw_question(asks, number, given)})
    if chosen.line:
        st.code(chosen.line, language=None, wrap_lines=True)
    if asks and not chosen.options[asks].strip():
        return None
    try:
        with st.spinner("Looking at what it would change"):
            preview = preview_decision(chosen)
    except UserError as error:
        notice("error", terminal_safe(str(error)))
        st.button("Look again", key=f"again {number}")
        return None
    _draw_preview(preview)
    return chosen, preview


def _draw_question(asks: str, number: str, given: str) -> str:
    if asks == "content":
        return st.text_area("What it shall say", given, key=f"asked {number}", max_chars=_MOST_CONTENT)
    return st.text_input("The memory that stays", given, key=f"asked {number}", max_chars=_MOST_CHARACTERS)


def _draw_preview(preview: CommandPreview) -> None:
    """Each field as it is and as it will be."""
    facts = [
        (
            _shorten(f"{memory_id}: {name.replace('_', ' ')}"),
            f"{_shorten(was)} → {_shorten(will_be)}" if was else _shorten(will_be),
        )
        for memory_id, name, was, will_be in preview.changes[:_SHOWN_CHANGES]
    ]
    draw_text("What it would change:" if facts else "It would change no memory.")
    st.html(render_template("facts.html.jinja", facts=facts))
    if len(preview.changes) > _SHOWN_CHANGES:
        draw_text(f"And {len(preview.changes) - _SHOWN_CHANGES:,} more.")
    for note in preview.notes:
        draw_text(_shorten(note))


def _shorten(text: str) -> str:
    return shorten_to_width(terminal_safe(shorten_to_width(text, _SHOWN_CHARACTERS)), _SHOWN_CHARACTERS)


def _land(chosen: DecisionCommand, preview: CommandPreview, number: str, asks: str) -> None:
    """Land a decision as its dialog showed it, once; what a page of others sends, or sends again, lands nothing."""
    by, reason = (st.session_state[f"{name} {number}"] for name in ("by", "reason"))
    if asks and st.session_state[f"asked {number}"] != chosen.options[asks]:
        st.session_state[_FAILED] = "it was changed after this was drawn: look at it again (nothing was changed)"
    elif not may_decide(st.context.headers):
        st.session_state[_FAILED] = "this was not asked for by a page of this dashboard (nothing was changed)"
    elif _is_claimed(number):
        try:
            st.session_state[_LANDED] = land_decision(chosen, preview, by=by, reason=reason)
            st.session_state[_DECIDER] = by
            st.session_state.pop(_ASKED, None)
        except UserError as error:
            st.session_state[_FAILED] = str(error)
            st.session_state[_OPEN] = number


def _is_claimed(number: str) -> bool:
    """Use up the number of the open dialog; False: it is used up already, or of another dialog."""
    with _claiming:  # a script that was told to stop may still be landing while the next one begins
        if st.session_state.get(_OPEN) != number:
            return False
        del st.session_state[_OPEN]
        return True
