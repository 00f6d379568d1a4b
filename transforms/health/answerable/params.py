"""How it is said what a log can answer."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict

from slowwave.transforms.core.methods.chosen import chosen_method


class AnswerParams(BaseModel):
    """The method that answers the questions of `answerable_questions`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    method: Annotated[str, chosen_method("answers.method")] = "answers/1"
