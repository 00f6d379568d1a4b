"""What a lift compared, and what else may explain it, in words."""

from __future__ import annotations

# Bases on which no more than an association can be said.
ASSOCIATED = ("same_task", "matched")
NOT_RANDOMISED = "retrieval was not randomised"
COMPARED = {
    "randomised": "compared with interactions from which it was left out at random",
    "cutoff": "compared with interactions in which it scored just too low to be injected; other scores were not"
    " compared",
    "same_task": f"compared with the same tasks before it existed; {NOT_RANDOMISED}: other changes since then may be"
    " the cause",
    "matched": "compared with interactions without it, of the same project, agent, task type and time;"
    f" {NOT_RANDOMISED}: what made it be retrieved may be the cause",
}


def describe_comparison(basis: str) -> str:
    """Return what a lift of that basis was compared with, and what else may be its cause."""
    return COMPARED[basis]
