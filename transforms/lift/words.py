"""What a lift compared, and what it could not, in words."""

from __future__ import annotations

# Bases on which no more than an association can be said.
ASSOCIATED = ("same_task", "matched")
NOT_RANDOMISED = "retrieval was not randomised"
# Per basis the two sides that were compared.
COMPARED = {
    "randomised": "like interactions with it and without it, as chance decided",
    "cutoff": "interactions in which it scored just above and just below the score from which memories are injected",
    "same_task": "attempts at the same tasks after it existed and before",
    "matched": "interactions of the same project, agent, task type and time with it and without it",
}
# Per basis what stays in the difference, or was not looked at; '' is nothing known.
NOT_COMPARED = {
    "randomised": "",
    "cutoff": "what scored far from that could not be compared",
    "same_task": f"{NOT_RANDOMISED}, and what else changed meanwhile could not be told apart",
    "matched": f"{NOT_RANDOMISED}, and what made it be retrieved could not be told apart",
}


def compared(basis: str) -> str:
    """What a lift of that basis compared and could not: `… with it and without it; retrieval was not randomised, …`."""
    return "; ".join(filter(None, (COMPARED[basis], NOT_COMPARED[basis])))
