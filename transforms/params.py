"""Everything a published number depends on besides the log: frozen, hashed, named in every run."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from slowwave.transforms.anti_pattern_params import AntiPatternParams
from slowwave.transforms.attempt_params import AttemptParams
from slowwave.transforms.confidence_params import ConfidenceParams
from slowwave.transforms.error_params import ErrorParams
from slowwave.transforms.extract_params import ExtractParams
from slowwave.transforms.forecast_params import ForecastParams
from slowwave.transforms.forgetting_params import ForgettingParams
from slowwave.transforms.hashing import digest
from slowwave.transforms.heuristic_params import HeuristicParams
from slowwave.transforms.llm_params import LlmParams
from slowwave.transforms.memory_outcome_params import MemoryOutcomeParams
from slowwave.transforms.need_params import NeedParams
from slowwave.transforms.observation_params import ObservationParams
from slowwave.transforms.project_health_params import ProjectHealthParams
from slowwave.transforms.review_params import ReviewParams
from slowwave.transforms.review_queue_params import ReviewQueueParams
from slowwave.transforms.scorecard_params import ScorecardParams
from slowwave.transforms.stated_confidence_params import StatedConfidenceParams
from slowwave.transforms.strategy_params import StrategyParams
from slowwave.transforms.strength_params import StrengthParams
from slowwave.transforms.trend_params import TrendParams
from slowwave.transforms.used_params import UsedParams
from slowwave.transforms.verdict_params import VerdictParams


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class EvidenceParams(_Frozen):
    """What the evidence of a day depends on; changing any of it rebuilds every day."""

    eligible_method: Literal["eligible/2", "eligible/1"] = Field(
        default="eligible/2",
        description="eligible/1 knows neither scope nor user: a memory is eligible in its project, or everywhere.",
    )
    injected_method: str = "injected/1"
    echo_method: str = "echo/1"
    global_types: tuple[str, ...] = Field(
        default=("identity", "preference"),
        description="Memory types of the '' project that are eligible in every project.",
    )
    echo_code_points: int = Field(
        default=80, ge=1, description="Code points of a memory that must stand in the response."
    )
    echo_min_code_points: int = Field(default=12, ge=1, description="A memory with fewer is not looked for.")
    broad_memories: int = Field(default=10, ge=2, description="Memories that a broad interaction references.")
    bulk_memories: int = Field(default=100, ge=2, description="Memories that a bulk interaction references.")
    used: UsedParams = UsedParams()
    extract: ExtractParams = ExtractParams()


class Params(_Frozen):
    """Params of one run."""

    evidence: EvidenceParams = EvidenceParams()
    reinforcement_delta: float = Field(
        default=0.02,
        ge=0,
        le=1,
        description="Added to the initial confidence per echoing interaction (AtoCore's rule).",
    )
    reinforcement_cap: float = Field(default=1.0, ge=0, le=1, description="Where reinforced confidence ends.")
    stated: StatedConfidenceParams = StatedConfidenceParams()
    attempts: AttemptParams = AttemptParams()
    strategies: StrategyParams = StrategyParams()
    errors: ErrorParams = ErrorParams()
    forecast: ForecastParams = ForecastParams()
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

    def partition_hash(self) -> str:
        """The same without `eligible_method`: all that it decides shows in the stretches that name a partition, too."""
        return digest([self.evidence.model_dump_json(exclude={"eligible_method"})])

    def methods(self) -> list[str]:
        """Names and versions of the methods used."""
        return [
            self.evidence.eligible_method,
            self.evidence.injected_method,
            self.evidence.echo_method,
            self.evidence.used.method,
            self.evidence.extract.method,
            self.stated.method,
            self.attempts.method,
            self.attempts.task_type_method,
            self.strategies.method,
            self.errors.method,
            *self._confidence_methods(),
            self.anti_patterns.method,
            self.memory_outcomes.outcomes_method,
            self.memory_outcomes.lift_method,
            self.strength.method,
            self.need.method,
            self.trend.method,
            self.verdict.method,
            self.project_health.method,
            self.review.method,
            self.review_queue.method,
            self.forgetting.method,
            self.forgetting.regret_method,
            self.observations.method,
            self.observations.curation_method,
            *self.llm.methods(),
        ]

    def _confidence_methods(self) -> tuple[str, ...]:
        if self.heuristics.method == self.forecast.method:
            return self.forecast.method, "strategy_trend/1", "scorecard/1"
        return self.confidence.method, "strategy_trend/2", "untried/1", "scorecard/2"
