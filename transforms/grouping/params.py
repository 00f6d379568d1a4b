"""What error fingerprints depend on besides the messages."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from slowwave.transforms.core.methods.chosen import chosen_method


class ErrorParams(BaseModel):
    """Params of `error_fingerprints`. Evidence is counted in distinct texts, never in how often one was seen."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    method: Annotated[str, chosen_method("errors.method")] = "error/3"
    max_code_points: int = Field(default=8_000, ge=100, description="Code points read at each end of a longer message.")
    max_line_code_points: int = Field(default=1_000, ge=50, description="Code points read of a line.")
    max_tokens: int = Field(default=64, ge=8, le=256, description="Tokens of a masked message that are compared.")
    min_words: int = Field(default=2, ge=1, description="Words texts must share before any of their tokens may vary.")
    min_names: int = Field(default=2, ge=2, description="Distinct names (a.b, a/b, a1) in one place that make it vary.")
    min_identifiers: int = Field(default=3, ge=2, description="The same for identifiers (camelCase, snake_case).")
    min_words_in_place: int = Field(default=5, ge=2, description="The same for plain words.")
    min_words_beside_few: int = Field(
        default=7, ge=2, description="The same for plain words beside fewer than four shared ones."
    )
    min_words_in_first_place: int = Field(
        default=8, ge=2, description="The same for plain words before which no shared one stands."
    )


# Params of the strategy groups.


class StrategyParams(BaseModel):
    """Names the reading of strategy texts (`strategy_key`, its word lists, its limits): it changes as a whole."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    method: Annotated[str, chosen_method("strategies.method")] = Field(
        default="strategy_groups/1", description="How texts are read as strategies, with version."
    )
