"""From where on a project's memory is said to be unwell."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

from slowwave.transforms.core.methods.chosen import chosen_method

Level = Annotated[float, Field(ge=0, le=1)]


class Alarm(BaseModel):
    """Shares from which on there is an alarm, when even the lower bound of the share lies above them."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    warning: Level
    critical: Level

    @model_validator(mode="after")
    def _is_ordered(self) -> Alarm:
        if self.warning > self.critical:
            message = "an alarm is critical no earlier than it is a warning"
            raise ValueError(message)
        return self


class ProjectHealthParams(BaseModel):
    """Alarms of `project_health`: thresholds per share, and how much evidence there must be."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    method: Annotated[str, chosen_method("project_health.method")] = "project_health/3"
    junk: Alarm = Field(
        default=Alarm(warning=0.3, critical=0.6),
        description="invalid, to forget, or without text worth the name (an audited store was 98 % junk).",
    )
    duplicate: Alarm = Field(
        default=Alarm(warning=0.1, critical=0.5),
        description="Same text as another of its owner (Astrocyte alarms from .5 on).",
    )
    stale: Alarm = Field(
        default=Alarm(warning=0.3, critical=0.5), description="Used once, fading now (levels of ALMA's monitor)."
    )
    never_eligible: Alarm = Field(
        default=Alarm(warning=0.3, critical=0.7),
        description="No interaction could have used it although the project had some: wrong project, or wrong type.",
    )
    never_injected: Alarm = Field(
        default=Alarm(warning=0.5, critical=0.9),
        description="Never picked in many chances: retrievers pick few, so only large shares mean something.",
    )
    injected_never_used: Alarm = Field(
        default=Alarm(warning=0.6, critical=0.9),
        description="Not used in many injections: of others it cannot be said, so only large shares mean something.",
    )
    pinned: Alarm = Field(
        default=Alarm(warning=0.5, critical=0.88), description="With most memories pinned, nothing is told apart."
    )
    forget: Alarm = Field(
        default=Alarm(warning=0.3, critical=0.5),
        description="Forgetting most of a project at once is rather a wrong setting than a wise plan.",
    )
    harmful_warning: int = Field(
        default=1, ge=1, description="Harmful memories that are a warning: false discoveries are already controlled."
    )
    harmful_critical: int = Field(default=5, ge=1, description="Harmful memories that are critical.")
    stale_days: int = Field(
        default=30,
        ge=1,
        le=3650,
        description="Memories that were injected in so many days before the publish, though they were superseded,"
        " invalid or expired by then, are a warning: from one on, for a correction is no matter of chance.",
    )
    leak_days: int = Field(
        default=30,
        ge=1,
        le=3650,
        description="Memories of another scope (`scope_leaks`) given to interactions in so many days before the publish"
        " are critical: from one on, for they may be another person's.",
    )
    growth_days: int = Field(
        default=30, ge=1, le=3650, description="The span in which growth without use is looked for."
    )
    growth_memories: int = Field(
        default=50,
        ge=1,
        description="So many memories created in it with enough chances, and not one used, are a warning.",
    )
    deviations: float = Field(
        default=2.576,
        ge=0,
        le=10,
        description="Standard deviations of the Wilson bound a share must pass with: 1 in 200 by chance, so that two "
        "memories alarm nobody.",
    )
    min_eligible: int = Field(
        default=20, ge=1, description="Interactions that make a chance to be injected (as for verdicts)."
    )
    min_injections: int = Field(
        default=10, ge=1, description="Injections that make a chance to be used (as for verdicts)."
    )
    min_code_points: int = Field(default=12, ge=0, description="Shorter normalised text says nothing: junk.")
    min_judged: int = Field(
        default=5,
        ge=1,
        description="Active memories with a reference or enough chances that make a project known at all.",
    )
