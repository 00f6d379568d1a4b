"""Everything a published number depends on besides the log: frozen, hashed, named in every run."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from slowwave.transforms.hashing import digest


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class EvidenceParams(_Frozen):
    """What the evidence of a day depends on; changing any of it rebuilds every day."""

    injected_method: str = "injected/1"
    echo_method: str = "echo/1"
    global_types: tuple[str, ...] = Field(
        default=("identity", "preference"),
        description="Memory types of the '' project that are eligible in every project.",
    )
    echo_code_points: int = Field(
        default=80, ge=1, description="Code points of a memory that must stand in the response."
    )
    echo_min_code_points: int = Field(default=12, ge=1, description="A memory with fewer is not looked for.")


class Params(_Frozen):
    """Params of one run."""

    evidence: EvidenceParams = EvidenceParams()
    reinforcement_delta: float = Field(
        default=0.02,
        ge=0,
        le=1,
        description="Added to the initial confidence per echoing interaction (AtoCore's rule).",
    )
    reinforcement_cap: float = Field(default=1.0, ge=0, le=1, description="Where reinforced confidence ends.")

    def params_hash(self) -> str:
        """Digest of all params."""
        return digest([self.model_dump_json()])

    def evidence_hash(self) -> str:
        """Digest of the params the evidence depends on."""
        return digest([self.evidence.model_dump_json()])

    def methods(self) -> list[str]:
        """Names and versions of the methods used."""
        return [self.evidence.injected_method, self.evidence.echo_method]
