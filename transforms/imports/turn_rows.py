"""A turn of a coding agent as rows: the interaction, and what can be told of how it ended."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from slowwave.transforms.core.blank import says_nothing
from slowwave.transforms.imports.inferred.outcomes import inferred_outcomes
from slowwave.transforms.imports.made import Context, LeftOut, Made, Row
from slowwave.transforms.imports.options import is_stated
from slowwave.transforms.imports.turns import Turn

STILL_OPEN = "a turn that was still going on"
NO_PROMPT = "a turn without a text of the person's"
# Of every adapter whose records are turns.
TURN_OPTIONS = frozenset({"infer_corrections"})


def turn_rows(turn: Turn, context: Context) -> Iterator[Made]:
    """The rows of one turn; one that is still going on, or in which nobody asked anything, makes none.

    The interaction, and the outcomes that are inferred of it unless the context says otherwise; those of corrections
    only where the option `infer_corrections` is true. Raises OptionsError where it is neither true nor false.
    """
    if says_nothing(turn.prompt):
        yield LeftOut(NO_PROMPT)
        return
    if turn.end == "open" and not context.is_idle:
        yield LeftOut(STILL_OPEN)
        return
    yield _row(turn, _interaction(turn))
    if context.infers:
        # nobody wrote down that the last turn of an idle unit is over
        ended = replace(turn, end="ended") if turn.end == "open" else turn
        for outcome in inferred_outcomes(ended, corrections=is_stated(context.options, "infer_corrections")):
            yield _row(turn, outcome)


def _row(turn: Turn, fields: dict[str, object]) -> Row:
    return Row(fields, turn.record_ids, turn.client_version)


def _interaction(turn: Turn) -> dict[str, object]:
    fields: dict[str, object] = {
        "interaction_id": turn.interaction_id,
        "created_at": turn.created_at,
        "recorded_at": turn.ended_at,
        "project": turn.project,
        "agent": turn.agent,
        "client": turn.client or None,
        "session_id": turn.session_id or None,
        "prompt": turn.prompt,
        "response": turn.response or None,
        "duration_ms": turn.duration_ms,
    }
    if turn.end in ("interrupted", "api_error"):
        fields["ended"] = turn.end
    return fields | turn.fields
