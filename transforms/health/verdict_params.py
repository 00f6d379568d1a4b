"""When a memory is kept, reviewed or let go."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from slowwave.transforms.core.methods.chosen import chosen_method


class VerdictParams(BaseModel):
    """Verdicts on memories: how much evidence each needs, and from where on it speaks against one."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    method: Annotated[str, chosen_method("verdict.method")] = Field(
        default="verdict/2",
        description="verdict/1 keeps what is superseded, invalid, archived or graduated, speaks of references alone,"
        " and names of a lift only its basis.",
    )
    grace_days: int = Field(
        default=14,
        ge=0,
        le=3650,
        description="Without a reference a memory is young before this age: two working weeks show recurring work.",
    )
    min_eligible: int = Field(
        default=20,
        ge=1,
        description="Interactions it could have been used in before not being injected says something: at an injection "
        "rate of 1 in 7, 20 misses in a row are a 5 % chance.",
    )
    min_injections: int = Field(
        default=10,
        ge=1,
        description="Injections before no detected use says something: a quarter to seven tenths of uses are found, so "
        "one used every time would stay undetected in 6 % of cases at most.",
    )
    recent_days: int = Field(
        default=30, ge=0, le=3650, description="A memory referenced in the last so many days is never to be forgotten."
    )
    needed_from: float = Field(
        default=0.05,
        ge=0,
        le=1,
        description="A faded memory whose need in 30 days, silent or active project, reaches this is reviewed first: "
        "of 20 such memories one would be missed within the month.",
    )
    fading_soon_days: int = Field(
        default=30, ge=0, le=3650, description="A memory that fades within so many days is said to."
    )
    excess_deviations: float = Field(
        default=2.58,
        gt=0,
        le=10,
        description="Failed uses are clearly more than expected from so many standard deviations on: 1 in 200 by "
        "chance, as every memory is looked at.",
    )
    no_difference: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="The confidence that means no difference: with clearly more failed uses than expected, an upper "
        "bound below it leads to a review. The bound counts a session once, the excess ignores initial confidence.",
    )
    low_confidence: float = Field(
        default=0.3,
        ge=0,
        le=1,
        description="An upper bound of confidence below this leads to a review by itself (ALMA prunes below it).",
    )
    min_code_points: int = Field(
        default=12, ge=0, description="Shorter text is not looked for in answers: that it is not found says nothing."
    )
