"""What a source's word is worth."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from slowwave.transforms.core.methods.chosen import chosen_method


class StatedConfidenceParams(BaseModel):
    """How sure the source of a preference or of knowledge makes of it (ALMA's rule)."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    method: Annotated[str, chosen_method("stated.method")] = "stated/1"
    preference_sources: tuple[str, ...] = Field(
        default=("explicit", "explicit_instruction", "user_stated"),
        description="Sources that say a preference in so many words; others let it be inferred. Case is no difference.",
    )
    knowledge_sources: tuple[str, ...] = Field(
        default=("user_stated",), description="Sources that state knowledge; others let it be inferred."
    )
    inferred_preference: float = Field(default=0.7, ge=0, le=1, description="Of a preference from another source.")
    inferred_knowledge: float = Field(default=0.8, ge=0, le=1, description="Of knowledge from another source.")
