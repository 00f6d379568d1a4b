"""Params of the strategy groups."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from slowwave.transforms.core.methods.chosen import chosen_method


class StrategyParams(BaseModel):
    """Names the reading of strategy texts (`strategy_key`, its word lists, its limits): it changes as a whole."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    method: Annotated[str, chosen_method("strategies.method")] = Field(
        default="strategy_groups/1", description="How texts are read as strategies, with version."
    )
