"""What the compiled loops have at hand: the words of some prompts and answers, and the passages of a day's memories."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from slowwave.transforms.core.arrays import Floats, Integers


@dataclass(frozen=True)
class TextWords:
    """Distinct words of some prompts and answers, end to end."""

    prompts: NDArray[np.int32]
    prompt_ends: Integers
    answers: NDArray[np.int32]
    answer_ends: Integers

    @cached_property
    def ends(self) -> Integers:
        """Of both together."""
        return self.prompt_ends + self.answer_ends


@dataclass
class Pool:
    """Passages of a day's memories, see `pool_kernel.prepare_pool`."""

    documents: Integers
    known: NDArray[np.int32]
    rarity: Floats
    kept: NDArray[np.int32]
    kept_ends: Integers
    masses: Integers
    squares: Integers
    sides: NDArray[np.int16]
    log_masses: Floats | None = None


@dataclass(frozen=True)
class TouchedCandidates:
    """Candidates that an answer touches: place of the interaction, passage of the memory, log-odds in steps.

    `is_long`: one of the memories that they were chosen from has several passages.
    """

    row: Integers
    document: Integers
    odds: Integers
    is_long: bool
