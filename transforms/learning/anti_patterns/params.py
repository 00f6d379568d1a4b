"""What the anti-patterns depend on besides the log."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from slowwave.transforms.core.methods.chosen import chosen_method


class AntiPatternParams(BaseModel):
    """Params of `anti_patterns`; changing any of them changes the table, never the evidence."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    method: Annotated[str, chosen_method("anti_patterns.method")] = Field(
        default="anti_patterns/3",
        description="A hard_task is a task at which nobody succeeds, and an open avoid fails more often than its"
        " comparables; none is open whose confidence is above one half, and no alternative fails itself.",
    )
    false_discovery_rate: float = Field(
        default=0.05,
        gt=0,
        lt=1,
        description="e-BH level within a project, and so also the chance that a strategy no worse than its "
        "comparables is ever flagged.",
    )
    min_failed_sessions: int = Field(
        default=2, ge=1, description="Sessions with a failure before a strategy has a row."
    )
    restart_days: int = Field(
        default=28,
        ge=1,
        description="The e-value is a mixture over the whole history and over restarts every so many days after the "
        "strategy's first session, so that a good past does not hide a strategy that broke.",
    )
    failing_rate: float = Field(
        default=0.65,
        gt=0,
        lt=1,
        description="At a hard task a strategy keeps failing when its present failure rate is above this.",
    )
    solved_rate: float = Field(
        default=0.35,
        ge=0,
        lt=1,
        description="A strategy of any agent that succeeds in more than this share of its attempts shows that the task"
        " can be done: then nothing is a hard_task there.",
    )
    solved_attempts: int = Field(default=5, ge=1, description="Attempts that such a strategy must have.")
    hard_rate: float = Field(
        default=0.5,
        gt=0,
        lt=1,
        description="hard_task is flagged on evidence that the strategy, or all together, fail more often than this.",
    )
    margin: float = Field(
        default=0.05,
        ge=0,
        lt=0.5,
        description="Elsewhere it keeps failing when its present failure rate is so far above its comparables'.",
    )
    recent_sessions: float = Field(
        default=2.0,
        gt=0,
        le=20,
        description="Half-life of the strategy's own evidence, in its sessions: evidence ages by new evidence only.",
    )
    baseline_days: int = Field(
        default=28, ge=1, description="The comparables' present failure rate is that of their last so many days."
    )
    prior_sessions: float = Field(
        default=1.0,
        gt=0,
        le=20,
        description="Weight of the comparables' failure rate as prior of the strategy's, in sessions.",
    )
    opens_at: float = Field(
        default=0.9, gt=0, lt=1, description="P(keeps failing) from which on a row is open (again)."
    )
    closes_below: float = Field(default=0.5, gt=0, lt=1, description="P(keeps failing) below which an open row closes.")
    dormant_days: int = Field(
        default=30, ge=1, description="An open row whose strategy was not tried for so many days is dormant."
    )
    dominant_error_share: float = Field(
        default=0.5, gt=0, le=1, description="Share of the failures an error must have to be named as the explanation."
    )
    failure_value: float | None = Field(
        default=None, ge=0, description="What one failure costs the owner. NULL: the mean cost, else time, else tokens."
    )
