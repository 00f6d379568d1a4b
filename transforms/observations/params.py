"""When memories count as one fact, and how old evidence may be."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from slowwave.transforms.core.methods.chosen import chosen_method


class ObservationParams(BaseModel):
    """Observations by rules, and what they would do with new memories."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    method: Annotated[str, chosen_method("observations.method")] = Field(
        default="observe/6",
        description="Which memories are one fact, and which replaced which: observe/6.",
    )
    curation_method: Annotated[str, chosen_method("observations.curation_method")] = Field(
        default="curate/4",
        description="What becomes of a new memory, and which mergers are proposed: curate/4.",
    )
    same_words_similarity: float = Field(
        default=0.6, ge=0, le=1, description="From which likeness two texts of the same words, inflected, are one fact."
    )
    more_words_similarity: float = Field(
        default=0.7, ge=0, le=1, description="The same where one of them has words that the other lacks."
    )
    proposal_similarity: float = Field(
        default=0.3,
        ge=0,
        le=1,
        description="From which likeness a merger is proposed to a person, where nothing speaks against it.",
    )
    fresh_days: int = Field(default=30, ge=0, description="An observation is fresh so long after its last evidence.")
    ageing_days: int = Field(default=90, ge=0, description="And ageing so long; stale after that.")
    neighbours: int = Field(default=10, ge=1, le=100, description="Memories each is compared with in full.")
    signature_words: int = Field(
        default=6, ge=2, le=12, description="Of a memory's heaviest words every one and every two are looked up."
    )
    bucket: int = Field(
        default=16, ge=1, le=1000, description="Of memories with the same words so many are candidates, the latest."
    )
    near_similarity: float = Field(
        default=0.01, ge=0, le=1, description="From which likeness two memories are looked at closely for a merger."
    )
    most_compared: int = Field(
        default=2_000, ge=0, description="Pairs of memories of a project that are looked at so, the most alike."
    )
    merge_likelihood: float = Field(
        default=0.2, ge=0, le=1, description="From which likelihood that people call them one a merger is proposed."
    )
    most_proposals: int = Field(
        default=200, ge=0, description="Mergers proposed in a project, the likeliest, besides those that are certain."
    )
