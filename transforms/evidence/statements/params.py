"""What is taken for a statement worth remembering."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class ExtractParams(BaseModel):
    """Bounds of the seven rules; the rules themselves belong to the method's version."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    method: str = "extract/1"
    min_code_points: int = Field(default=8, ge=1, description="A shorter statement is not one.")
    max_code_points: int = Field(
        default=280, ge=1, description="A longer one is cut to its first sentence, and left where that is longer still."
    )
