"""The plain sum of records: a strategy's own attempts beside those of its strategy and its task type, none faded."""

from __future__ import annotations

from scipy.special import expit, logit

from slowwave.transforms.core.arrays import Floats
from slowwave.transforms.learning.confidence.states import AttemptCounts

_OWN_STRENGTH = 2  # attempts that the sum of the relatives' records is worth
_RELATIVES_STRENGTH = 5  # attempts that the project's is worth


def sum_of_records(
    own: AttemptCounts, strategy: AttemptCounts, task_type: AttemptCounts, project: AttemptCounts
) -> Floats:
    """Return each cell's rate, shrunk to the sum of the logits of its strategy's and its task type's rates."""
    rate = (project.successes + 1) / (project.attempts + 2)
    of_strategy, of_task_type = (of.shrunk(rate, _RELATIVES_STRENGTH) for of in (strategy, task_type))
    return own.shrunk(expit(logit(of_strategy) + logit(of_task_type) - logit(rate)), _OWN_STRENGTH)
