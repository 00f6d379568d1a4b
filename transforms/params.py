"""Everything a published number depends on besides the log: frozen, hashed, named in every run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from operator import getitem

from pydantic import BaseModel, ConfigDict, Field

from slowwave.transforms.core.hashing import digest
from slowwave.transforms.core.methods.registry import method, methods
from slowwave.transforms.decisions.params import ForgettingParams, ReviewQueueParams
from slowwave.transforms.evidence.followed.params import FollowedParams
from slowwave.transforms.evidence.params import UNNAMED, EvidenceParams
from slowwave.transforms.evidence.scopes import ScopeParams
from slowwave.transforms.grouping.params import ErrorParams, StrategyParams
from slowwave.transforms.health.answerable.params import AnswerParams
from slowwave.transforms.health.params import ReviewParams, StatedConfidenceParams, VerdictParams
from slowwave.transforms.health.project.params import ProjectHealthParams
from slowwave.transforms.learning.anti_patterns.params import AntiPatternParams
from slowwave.transforms.learning.confidence.params import ConfidenceParams
from slowwave.transforms.learning.params import AttemptParams, HeuristicParams, ScorecardParams
from slowwave.transforms.lift.params import MemoryOutcomeParams
from slowwave.transforms.llm.params import LlmParams
from slowwave.transforms.observations.params import ObservationParams
from slowwave.transforms.usage.params import NeedParams, StrengthParams, TrendParams


class Params(BaseModel):
    """Params of one run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    evidence: EvidenceParams = EvidenceParams()
    scopes: ScopeParams = ScopeParams()
    followed: FollowedParams = FollowedParams()
    reinforcement_delta: float = Field(
        default=0.02,
        ge=0,
        le=1,
        description="Added to the initial confidence per interaction that quotes it (AtoCore's rule).",
    )
    reinforcement_cap: float = Field(default=1.0, ge=0, le=1, description="Where reinforced confidence ends.")
    stated: StatedConfidenceParams = StatedConfidenceParams()
    attempts: AttemptParams = AttemptParams()
    strategies: StrategyParams = StrategyParams()
    errors: ErrorParams = ErrorParams()
    confidence: ConfidenceParams = ConfidenceParams()
    heuristics: HeuristicParams = HeuristicParams()
    anti_patterns: AntiPatternParams = AntiPatternParams()
    memory_outcomes: MemoryOutcomeParams = MemoryOutcomeParams()
    scorecard: ScorecardParams = ScorecardParams()
    strength: StrengthParams = StrengthParams()
    need: NeedParams = NeedParams()
    trend: TrendParams = TrendParams()
    verdict: VerdictParams = VerdictParams()
    project_health: ProjectHealthParams = ProjectHealthParams()
    answers: AnswerParams = AnswerParams()
    review: ReviewParams = ReviewParams()
    review_queue: ReviewQueueParams = ReviewQueueParams()
    forgetting: ForgettingParams = ForgettingParams()
    observations: ObservationParams = ObservationParams()
    llm: LlmParams = LlmParams()

    def params_hash(self) -> str:
        """Digest of all params."""
        return digest([self.model_dump_json()])

    def evidence_hash(self) -> str:
        """Digest of the params the evidence depends on."""
        return digest([self.evidence.model_dump_json()])

    def partition_params(self, names: Iterable[str]) -> dict[str, object]:
        """What of the params of evidence a partition is named after, by full name: those that differ from `UNNAMED`.

        `names`: those that matter; a section stands for all that is in it.
        """
        stated = dict(_leaves("evidence", self.evidence.model_dump(mode="json")))
        within = tuple(f"{name}." for name in names)
        return {
            name: stated[name]
            for name, unnamed in UNNAMED.items()
            if stated[name] != unnamed and f"{name}.".startswith(within)
        }

    def differing(self) -> list[str]:
        """The full names of the params that are not at their defaults."""
        default = dict(_leaves("", Params().model_dump(mode="json")))
        return [name.removeprefix(".") for name, value in _leaves("", self.model_dump(mode="json"))
                if default.get(name) != value]  # fmt: skip

    def chosen_methods(self) -> dict[str, str]:
        """The method that each param that names one chooses, by the full name of the param."""
        chosen_by = (param for known in methods().values() for param in known.chosen_by)
        return {param: reduce(getattr, param.split("."), self) for param in chosen_by}

    def with_method(self, param: str, method_id: str) -> Params:
        """The same but for the method that a param, such as `evidence.echo_method`, chooses.

        Raises pydantic.ValidationError when it may not.
        """
        stated = self.model_dump()
        *sections, name = param.split(".")
        reduce(getitem, sections, stated)[name] = method_id
        return Params.model_validate(stated)

    def methods(self) -> list[str]:
        """Names and versions of the methods used."""
        return [
            self.evidence.eligible_method,
            self.evidence.injected_method,
            self.evidence.echo_method,
            self.evidence.cited_method,
            self.evidence.used.method,
            self.evidence.extract.method,
            self.followed.method,
            self.stated.method,
            self.attempts.method,
            self.attempts.task_type_method,
            self.strategies.method,
            self.errors.method,
            self.heuristics.method,
            *method(self.heuristics.method).brings,
            self.anti_patterns.method,
            self.memory_outcomes.outcomes_method,
            self.memory_outcomes.lift_method,
            self.strength.method,
            self.need.method,
            self.trend.method,
            self.verdict.method,
            self.project_health.method,
            self.answers.method,
            self.review.method,
            self.review_queue.method,
            self.forgetting.method,
            self.forgetting.regret_method,
            self.observations.method,
            self.observations.curation_method,
            *self.llm.methods(),
        ]


def _leaves(section: str, values: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _leaves(f"{section}.{name}", value)
        else:
            yield f"{section}.{name}", value
