"""Params of `used/3`."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from slowwave.transforms.core.methods.chosen import chosen_method


class UsedParams(BaseModel):
    """When an answer counts as relying on a memory."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    method: Annotated[str, chosen_method("evidence.used.method")] = Field(
        default="used/3",
        description="used/3 ranks the memories that share parts of words with the answer beside their pool.",
    )
    threshold: float = Field(default=0.7, gt=0, le=1, description="Least estimated probability that counts as use.")
    min_words: int = Field(default=3, ge=1, description="A memory of fewer words is not looked for.")
    code_points: int = Field(
        default=20_000,
        ge=100,
        description="Of a longer prompt, answer or memory only so much of the beginning is read.",
    )
    candidates: int = Field(
        default=32, ge=1, le=1000, description="Memories nearest to an answer that are compared with it in full."
    )
