"""`transcript_apierror/1`: a turn that ended with an error of the model's API was no attempt."""

from __future__ import annotations

from slowwave.transforms.imports.adapter import Turn
from slowwave.transforms.imports.inferred.verdicts import Verdict

METHOD = "transcript_apierror/1"


def transcript_apierror(turn: Turn) -> Verdict | None:
    """That a turn was no attempt, since the API failed it."""
    if turn.end != "api_error":
        return None
    return Verdict(is_success=False, evidence="the API failed", is_attempt=False)
