"""What is taken for a statement worth remembering."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from slowwave.transforms.core.methods.chosen import chosen_method


class ExtractParams(BaseModel):
    """Bounds of the seven rules; the rules themselves belong to the method's version."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    method: Annotated[str, chosen_method("evidence.extract.method")] = "extract/1"
    min_code_points: int = Field(default=8, ge=1, description="A shorter statement is not one.")
    max_code_points: int = Field(
        default=280, ge=1, description="A longer one is cut to its first sentence, and left where that is longer still."
    )
