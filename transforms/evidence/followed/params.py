"""What is taken for following an instruction."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict

from slowwave.transforms.core.methods.chosen import chosen_method


class FollowedParams(BaseModel):
    """The checks belong to the method's version."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    method: Annotated[str, chosen_method("followed.method")] = "followed/1"
