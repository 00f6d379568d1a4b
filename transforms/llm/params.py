"""What a language model may be asked each night, and how much of a memory it is shown."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from slowwave.transforms.core.methods.chosen import chosen_method


class LlmParams(BaseModel):
    """Which model decides in place of the rules, what it is shown, what it may cost, and when asking ends."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    curate_method: Annotated[str, chosen_method("llm.curate_method")] = "curate/llm-1"
    observe_method: Annotated[str, chosen_method("llm.observe_method")] = "observe/llm-1"

    model: str = Field(
        default="", description="Whose landed answers are shown; '': the rules alone. $SLOWWAVE_LLM_MODEL names it too."
    )
    max_content: int = Field(default=2_000, ge=1, description="Characters shown of the memory that is asked about.")
    max_shown_content: int = Field(default=200, ge=1, description="Characters shown of each memory beside it.")
    max_shown: int = Field(default=10, ge=0, le=10, description="Memories shown beside it, the most alike.")
    max_actions: int = Field(
        default=5, ge=0, le=5, description="An answer of `observe/llm-1` with more actions is not taken."
    )
    max_reason: int = Field(default=500, ge=0, description="Characters kept of the reason an answer gives.")

    calls_per_day: int = Field(
        default=1_000,
        ge=0,
        description="Answers per UTC day; a run counts every request it sends, those that failed included.",
    )
    tokens_per_day: int = Field(default=1_000_000, ge=0, description="Tokens per UTC day, of prompts and answers.")
    answer_tokens: int = Field(default=400, ge=16, description="Tokens an answer may have.")
    concurrency: int = Field(default=4, ge=1, le=64, description="Requests under way at once.")
    attempts: int = Field(default=3, ge=1, le=10, description="Requests per question in one night.")
    timeout_seconds: float = Field(default=60, gt=0, description="Of one request, its whole answer included.")
    max_wait_seconds: float = Field(
        default=30, ge=0, description="Longest wait before a request is repeated, whatever the server asks for."
    )
    max_failures: int = Field(
        default=3, ge=1, description="Questions in a row without an answer after which asking ends."
    )
    max_seconds: float = Field(default=1_800, gt=0, description="After so long no more is asked in one night.")

    def methods(self) -> list[str]:
        """Names of the methods that answer, with their model; none without one."""
        return [answering(name, self.model) for name in (self.curate_method, self.observe_method) if self.model]


def answering(method: str, model: str) -> str:
    """Name of a method as one model carries it out: another model is another method."""
    return f"{method}:{model}"
