"""`transcript_interrupt/1`: a turn that the person ended, refused or took back was no attempt."""

from __future__ import annotations

from slowwave.transforms.imports.adapter import Turn
from slowwave.transforms.imports.inferred.verdicts import Verdict

METHOD = "transcript_interrupt/1"


def is_taken_back(turn: Turn) -> bool:
    """Whether the person went back behind a turn when it was over."""
    return turn.fields.get("branch") == "abandoned"


def transcript_interrupt(turn: Turn) -> Verdict | None:
    """That a turn was no attempt: interrupted, ended by a refusal of its last call, or rolled back.

    A call that was refused, after which the agent went on, decides nothing. Never a failure.
    """
    last = turn.calls[-1] if turn.calls else None
    if last is not None and last.end in {"refused", "interrupted"}:
        said = "refused" if last.end == "refused" else "interrupted"
        return Verdict(is_success=False, evidence=f"the last call was {said}", call_id=last.call_id, is_attempt=False)
    if turn.end == "interrupted":
        return Verdict(is_success=False, evidence="the person interrupted it", is_attempt=False)
    if is_taken_back(turn):
        return Verdict(is_success=False, evidence="the person took it back", is_attempt=False)
    return None
