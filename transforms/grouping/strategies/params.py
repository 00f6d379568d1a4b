"""Params of the strategy groups."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class StrategyParams(BaseModel):
    """Names the reading of strategy texts (`strategy_key`, its word lists, its limits): it changes as a whole."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    method: str = Field(default="strategy_groups/1", description="How texts are read as strategies, with version.")
