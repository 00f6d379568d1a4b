"""What is taken for evidence of a memory's use: methods, and where each begins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Protocol

from pydantic import BaseModel, ConfigDict, Field

from slowwave.transforms.core.methods.chosen import chosen_method
from slowwave.transforms.evidence.statements.params import ExtractParams
from slowwave.transforms.evidence.used.params import UsedParams


class EvidenceParams(BaseModel):
    """What the evidence of a day depends on: with another value, what follows from it is built anew for every day."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    eligible_method: Annotated[str, chosen_method("evidence.eligible_method")] = Field(
        default="eligible/3",
        description="eligible/1 knows neither scope nor user: a memory is eligible in its project, or everywhere;"
        " eligible/2 knows no `expires_at`.",
    )
    injected_method: Annotated[str, chosen_method("evidence.injected_method")] = "injected/1"
    echo_method: Annotated[str, chosen_method("evidence.echo_method")] = "echo/1"
    cited_method: Annotated[str, chosen_method("evidence.cited_method")] = "cited/1"
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


# The defaults that names of partitions do not tell of. A default may change; this may not. What `eligible_method` and
# `global_types` decide shows in the stretches of eligibility, which names follow from anyway.
UNNAMED: Mapping[str, object] = {
    "evidence.injected_method": "injected/1",
    "evidence.echo_method": "echo/1",
    "evidence.cited_method": "cited/1",
    "evidence.echo_code_points": 80,
    "evidence.echo_min_code_points": 12,
    "evidence.broad_memories": 10,
    "evidence.bulk_memories": 100,
    "evidence.used.method": "used/3",
    "evidence.used.threshold": 0.7,
    "evidence.used.min_words": 3,
    "evidence.used.code_points": 20_000,
    "evidence.used.candidates": 32,
    "evidence.extract.method": "extract/1",
    "evidence.extract.min_code_points": 8,
    "evidence.extract.max_code_points": 280,
}


class ReachParams(Protocol):
    """Whose interactions a memory is eligible in."""

    eligible_method: str
    global_types: tuple[str, ...]


class PatternParams(Protocol):
    """What of a memory an answer must repeat."""

    echo_code_points: int
    echo_min_code_points: int


class PoolParams(ReachParams, PatternParams, Protocol):
    """Reach and pattern."""

    echo_method: str


class ReferenceParams(Protocol):
    """What is called injected, echoed and cited."""

    injected_method: str
    echo_method: str
    cited_method: str


class BreadthParams(Protocol):
    """How many memories an interaction references that tells little of each."""

    broad_memories: int
    bulk_memories: int
