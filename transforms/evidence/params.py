"""What is taken for evidence of a memory's use: methods, and where each begins."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from slowwave.transforms.core.methods.chosen import chosen_method
from slowwave.transforms.evidence.statements.params import ExtractParams
from slowwave.transforms.evidence.used.params import UsedParams


class EvidenceParams(BaseModel):
    """What the evidence of a day depends on; changing any of it rebuilds every day."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    eligible_method: Annotated[str, chosen_method("evidence.eligible_method")] = Field(
        default="eligible/2",
        description="eligible/1 knows neither scope nor user: a memory is eligible in its project, or everywhere.",
    )
    injected_method: Annotated[str, chosen_method("evidence.injected_method")] = "injected/1"
    echo_method: Annotated[str, chosen_method("evidence.echo_method")] = "echo/1"
    global_types: tuple[str, ...] = Field(
        default=("identity", "preference"),
        description="Memory types of the '' project that are eligible in every project.",
    )
    echo_code_points: int = Field(
        default=80, ge=1, description="Code points of a memory that must stand in the response."
    )
    echo_min_code_points: int = Field(default=12, ge=1, description="A memory with fewer is not looked for.")
    broad_memories: int = Field(default=10, ge=2, description="Memories that a broad interaction references.")
    bulk_memories: int = Field(default=100, ge=2, description="Memories that a bulk interaction references.")
    used: UsedParams = UsedParams()
    extract: ExtractParams = ExtractParams()
