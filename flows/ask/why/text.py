"""What `slowwave why` prints for people: no line wider than the terminal, nothing in it obeyed by the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from datetime import datetime
from math import floor
from typing import Any

from slowwave.flows.ask.why.layout import align_columns, format_lines, more, width, wrap_text
from slowwave.flows.kernel.terminal import format_count, shorten_to_width, terminal_safe
from slowwave.flows.kernel.times import utc_text
from slowwave.transforms.core.vocabularies import EXPIRED_TEXT
from slowwave.transforms.lift.lift_sentences import ASSOCIATED, describe_comparison

Record = dict[str, Any]

_CONTENT_CHARACTERS = 400
_VALUE_CHARACTERS = 60
_PASSAGE_CHARACTERS = 300

MEANINGS = {
    "eligible": "interactions in which it was active and which its project, scope and user include",
    "injected": "interactions it was put into (memories_used), whether it was of use or not",
    "stale": "injections while it was superseded, invalid or expired: what a correction did not reach",
    "echoed": "answers in which its first words stand (echo/1)",
    "used": "answers that rely on it, in its own or other words, as far as used/3 finds; of a long one, on a passage",
    "cited": "answers that name it themselves (memories_cited, cited/1), found there or not; part of no other count",
    "followed": "answers that do what it says, by a check that can tell (followed/1)",
    "not_followed": "answers that do not, by such a check; of all others nothing can be said",
    "references": "answers that quote or use it: a minimum, as some uses cannot be detected",
    "confirmed": "references in interactions whose latest attempt succeeded",
    "contradicted": "references in interactions whose latest attempt failed: not evidence that the text is false",
}

# What it means that no use was found, by use_state.
NEVER_FOUND = {
    "not_used": "no use found; were it used often, one should have been found",
    "undetectable": "no use found; its words are too few or too common for one to be found",
    "unproven": "no use found; it may be used all the same",
}


def memory_text(found: Record, limit: int, curation: Sequence[str] = ()) -> str:
    """A memory, its counts with the newest `limit` interactions of each, and its changes, newest first.

    `curation`: lines of what waits about it (see `curation_lines`).
    """
    state = found["memory"]
    lines = [f"memory {found['memory_id']}: {identity_words(state, found['erased_at'])}"]
    lines += wrap_text(shorten_to_width(state["content"] or "(its text is not known)", _CONTENT_CHARACTERS))
    lines += [f"as of {utc_text(found['as_of'])}, published by run {found['run_id']}", *_life(state)]
    lines += [
        "",
        f"verdict {state['verdict']}:",
        *(line for reason in state["reasons"] for line in wrap_text(f"- {reason}")),
    ]
    lines += wrap_text(use_words(state, found["as_of"]))
    if found["planned"]:
        lines += wrap_text(planned_words(found["planned"]))
    lines += curation
    for name, count in found["counts"].items():
        lines += [
            "",
            (
                f"{name} {count}: "
                f"{MEANINGS[name]}{_describe_in_prompt_count(found[name])}{_describe_expected_count(name, state)}"
            ),
        ]
        lines += _interactions(found[name], limit, found["problem"])
        if name == "eligible" and found[name] is not None and found["problem"]:
            lines.append(f"  {found['problem']}")
    if found["apart"]:
        lines += [
            "",
            f"apart {len(found['apart'])}: references in attempts that were inferred; nothing is learned of these",
        ]
        lines += _interactions(found["apart"], limit, "")
    lines += ["", f"changes {len(found['changes'])}: as landed, newest first"]
    lines += _changes(found["changes"], limit)
    return format_lines(lines)


def interaction_text(found: Record, words: list[str], evidence: list[str]) -> str:
    """An interaction with its `words`, what was injected, echoed, used or cited, its outcomes and its `evidence`."""
    here = {row["memory_id"]: use_words_here(row) for row in found["memories"]}
    about = ", ".join(f"{name} {found[name] or '(none)'}" for name in ("project", "agent", "session_id"))
    parroted = _describe_in_prompt_count(found["echoed"])
    lines = [
        f"interaction {found['interaction_id']}",
        f"{utc_text(found['occurred_at'])}, {about}",
        f"as of {utc_text(found['as_of'])}, published by run {found['run_id']}",
        *([f"{EXPIRED_TEXT}: what was found in it before counts"] if found["is_text_let_go"] else []),
        *words,
        "",
        f"injected {len(found['injected'])}: memories put into it (memories_used)",
        *align_columns([[row["memory_id"], here[row["memory_id"]]] for row in found["injected"]]),
        "",
        f"echoed {len(found['echoed'])}: memories quoted in its answer (echo/1){parroted}",
        *(f"  {row['memory_id']}  {_where(row)}" for row in found["echoed"]),
        "",
        f"used {len(found['used'])}: memories its answer relies on, in their own or in other words (used/3, estimated)",
        *(line for row in found["used"] for line in (f"  {row['memory_id']}  {_where(row)}", *_passage(row))),
        "",
        f"cited {len(found['cited'])}: memories its answer names itself (memories_cited)",
        *(f"  {row['memory_id']}" for row in found["cited"]),
        "",
        f"outcomes {len(found['outcomes'])}: how it ended",
        *(f"  {row['outcome_id']}  {ended_words(row)}" for row in found["outcomes"]),
        *evidence,
    ]
    return format_lines(lines)


def use_words_here(row: Record) -> str:
    """Whether the answer quoted or used a memory."""
    quoted = "quoted, which the prompt said already" if row["in_prompt"] else "quoted"
    said = [word for word, is_so in ((quoted, row["is_quoted"]), ("used", row["is_used"])) if is_so]
    return ", ".join(said) or "neither quoted nor used"


def ended_words(row: Record) -> str:
    """Return how an outcome ended, how that is known, and whether it decides."""
    decides = ", which decides" if row["is_deciding"] else ""
    known = f"{', ' if row.get('basis') else ''}{basis_words(row)}"
    ended = "succeeded" if row["success"] else "failed"
    return f"{ended}{known}{decides}" + (f" ({row['reason']})" if row["reason"] else "")


def basis_words(outcome: Record) -> str:
    """How an outcome is known, and by what; '' where an earlier release published it, which did not say."""
    by = f" by {outcome['basis_method']}" if outcome.get("basis_method") else ""
    return f"{outcome.get('basis') or ''}{by}"


def identity_words(state: Record, erased_at: datetime | None = None) -> str:
    """What a memory is: its state, type, project, agent and user; or when it was erased, where rows still name it."""
    if state["status"] is None and erased_at is not None:
        return f"erased on {erased_at:%Y-%m-%d}; rows of others still name it, nothing else is known of it"
    if state["status"] is None:
        return "injected or cited, but never landed as a memory; nothing else is known of it"
    project = f"of project {state['project']}" if state["project"] else "without project"
    agent = f", agent {state['agent']}" if state["agent"] else ""
    user = f", user {state['user_id']}" if state.get("user_id") else ""
    scope = f", scope {state['scope']}" if state.get("scope") else ""
    return f"{state['status']} {state['memory_type']} {project}{agent}{user}{scope}"


def _life(state: Record) -> list[str]:
    said = []
    if state["created_at"]:
        said.append(f"created {utc_text(state['created_at'])}")
    if state.get("expires_at"):
        verb = "expired" if state["status"] == "expired" else "expires"
        said.append(f"{verb} {utc_text(state['expires_at'])}")
    if state["first_referenced_at"]:
        said.append(
            f"referenced from {utc_text(state['first_referenced_at'])} to {utc_text(state['last_referenced_at'])}"
        )
    lines = ["; ".join(said)] if said else []
    stated = stated_use(state)
    lines += wrap_text(f"the store it comes from counted {stated}: not part of the counts here") if stated else []
    if state["reinforced_confidence"] is not None:
        lines.append(f"score by quotes {state['reinforced_confidence']:.2f} (reinforced_confidence)")
    lines += [confidence_words(state)] if state["confidence"] is not None else []
    return lines + wrap_text(lift_words(state))


def confidence_words(state: Record) -> str:
    """Return the confidence in a memory with its interval; '' where no outcome is known."""
    if state["confidence"] is None:
        return ""
    low, high = state["confidence_low"], state["confidence_high"]
    return f"confidence {state['confidence']:.2f} from outcomes, 90 % credible interval {low:.2f} to {high:.2f}"


def stated_use(state: Record) -> str:
    """Return how often the store of a memory says that it was referenced; '' where it does not say."""
    count, at = state.get("stated_references"), state.get("stated_last_referenced_at")
    parts = [format_count(count, "reference") if count is not None else "", f"the last on {utc_text(at)}" if at else ""]
    return ", ".join(filter(None, parts))


def use_words(state: Record, as_of: datetime) -> str:
    """What its use says of a memory: strength, fading, need and trend; '' where nothing is known."""
    said = []
    if state["strength"] is not None:
        half_life = f"half-life {format_count(round(state['half_life_days']), 'day')}"
        said.append(f"strength {_cut_off(state['strength'])} ({state['strength_state']}; {half_life})")
    if state["fades_at"] is not None:
        verb = "faded" if state["fades_at"] <= as_of else "fades without a new reference"
        said.append(f"{verb} on {state['fades_at']:%Y-%m-%d}")
    if state["need_30d"] is not None:
        need, if_active = _chance(state["need_30d"]), _chance(state["need_if_active"])
        active = "" if if_active == need else f", {if_active} if the project is active"
        said.append(f"need within 30 days {need}{active}")
    if state["trend"] is not None:
        said.append(f"trend {state['trend']}")
    return "; ".join(said)


def planned_words(planned: Record) -> str:
    """What the forgetting plan would do with a memory, and by which rule."""
    done = "leave it active, in shadow, to see whether it is missed" if planned["is_shadow"] else "archive it"
    return f"The forgetting plan would {done} (rule {planned['rule']}): {planned['reason']}."


def _cut_off(strength: float) -> str:
    """A strength to two decimals, not rounded, as in the reasons of a verdict."""
    hundredths = floor(strength * 100)
    return f"{hundredths / 100:.2f}" if hundredths else "below 0.01"


def _chance(forecast: float) -> str:
    """A forecast to two decimals, never as certainty."""
    if forecast < 0.005:  # noqa: PLR2004 - would be said as 0.00
        return "below 0.01"
    return "above 0.99" if forecast >= 0.995 else f"{forecast:.2f}"  # noqa: PLR2004 - would be said as 1.00


def lift_words(state: Record) -> str:
    """The lift of a memory with what it is worth, or why none is shown; '' where no outcome is known."""
    if state["lift"] is None:
        return f"no lift is shown: {state['lift_note']}" if state["lift_note"] else ""
    interval = f"{state['lift_low']:+.2f} to {state['lift_high']:+.2f}"
    is_open = state["lift_low"] <= 0 <= state["lift_high"]
    interval += ", which holds 0" if is_open else ""
    harm = "; harmful beyond chance" if state["is_harmful"] else ""
    least = f"{state['lift_detectable']:.2f}"
    basis = state["lift_basis"]
    by = "lower" if state["lift"] < 0 else "higher"
    found = f"associated with {by} success" if basis in ASSOCIATED else f"success was {by} with it"
    found += ", which may be chance" if is_open else ""
    found += f"; {describe_comparison(basis)}"
    found += f"; least detectable by its own interactions alone {least}"
    return f"lift {state['lift']:+.2f} ({interval}): {found}{harm}"


def _describe_expected_count(name: str, state: Record) -> str:
    if name == "used" and state.get("use_state"):  # an earlier release did not publish it
        low, high = state["used_expected_low"], state["used_expected_high"]
        never = NEVER_FOUND.get(state["use_state"])
        return f"; {state['used_expected']:.1f} expected ({low:.1f} to {high:.1f}){f'; {never}' if never else ''}"
    expected = state["contradicted_expected"]
    return f"; {expected:.1f} expected" if name == "contradicted" and expected is not None else ""


def _interactions(rows: list[Record] | None, limit: int, problem: str) -> list[str]:
    if rows is None:
        return [f"  not listed: {problem}"]
    shown = [
        [
            utc_text(row["occurred_at"]),
            row["project"],
            row["agent"],
            row["session_id"] or "",
            row["interaction_id"],
            _where(row),
        ]
        for row in rows[:limit]
    ]
    lines = [line for row, line in zip(rows, align_columns(shown), strict=False) for line in (line, *_passage(row))]
    return lines + more(len(rows), limit)


def _passage(row: Record) -> list[str]:
    """What of a long memory was found in the answer; nothing for other rows."""
    if not row.get("passage"):
        return []
    said = f"which say “{shorten_to_width(row['passage'], _PASSAGE_CHARACTERS)}”"
    return textwrap.wrap(terminal_safe(said), width() - 2, initial_indent="    ", subsequent_indent="    ")


def _describe_in_prompt_count(rows: list[Record] | None) -> str:
    count = sum(bool(row.get("in_prompt")) for row in rows or [])
    return f"; in {count} the prompt said it already" if count else ""


def _where(row: Record) -> str:
    """How a row's answer was found to echo or use the memory, or how its end is known; '' for other rows."""
    if "used_score" in row:
        begin = row.get("passage_at")
        place = "" if begin is None else f", by its characters {begin + 1}-{begin + len(row['passage'])}"
        return f"probability {row['used_score']:.2f}{place}"
    if "saw" in row:
        return shorten_to_width(row["saw"], _VALUE_CHARACTERS)
    if "basis" in row:
        ended = {True: "succeeded, ", False: "failed, ", None: ""}[row.get("success")]
        return f"{ended}{basis_words(row)}"
    if "echoed_in" not in row:
        return ""
    where = "response and summary" if row["echoed_in"] == "both" else row["echoed_in"]
    return f"in {where}" + (", as the prompt did" if row["in_prompt"] else "")


def _changes(changes: list[Record], limit: int) -> list[str]:
    lines = []
    for change in changes[:limit]:
        by = f" by {change['changed_by']}" if change["changed_by"] else ""
        why = f": {change['reason']}" if change["reason"] else ""
        lost = "" if change["is_winning"] else " (replaced by a later version)"
        lines.append(f"  {utc_text(change['changed_at'])}{by}{lost}{why}")
        if change["recorded_at"] != change["changed_at"]:
            lines.append(f"    recorded {utc_text(change['recorded_at'])}")
        for name, (old, new) in change["changed"].items():
            before = "" if old is None else f"{_value(old)} → "
            lines.append(f"    {name}: {before}{_value(new)}")
    return lines + more(len(changes), limit)


def _value(value: object) -> str:
    if value is None:
        return "nothing"
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return shorten_to_width(text, _VALUE_CHARACTERS) if text else "''"
