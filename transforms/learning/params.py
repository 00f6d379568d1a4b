"""What is learned of strategies with, of the params of a run."""

from __future__ import annotations

from typing import Annotated, Protocol

import polars as pl
from pydantic import BaseModel, ConfigDict, Field, field_validator

from slowwave.transforms.core.methods.chosen import chosen_method
from slowwave.transforms.learning.anti_patterns.params import AntiPatternParams
from slowwave.transforms.learning.confidence.params import ConfidenceParams

# What counts as an attempt, of which kind a task is, and who learns from what.

# A message begins here, whatever tag or label a client puts before it.
_BEGIN = r"(?i)^\W*(?:tool_use_error\W+)?(?:error: ?|warning: ?)?"
_STEP = r"(?:task|step|job|test|run|stage|tool call)"


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class NotAttempted(_Frozen):
    """A rule that tells from the error of a failed outcome that nothing was attempted."""

    reason: str = Field(min_length=1, description="As published.")
    pattern: str = Field(min_length=1, description="Rust regex, looked for in the error's first 2,000 characters.")
    unless: str | None = Field(default=None, description="Rust regex: where it is found too, the rule does not apply.")


class TaskTypeRule(_Frozen):
    """Words that tell the kind of a task."""

    task_type: str = Field(min_length=1)
    pattern: str = Field(min_length=1, description="Rust regex, looked for in the task's first 2,000 characters.")


class AgentScope(_Frozen):
    """What one agent learns from (ALMA's MemoryScope): what is out of scope is landed and reported, but not learned."""

    agent: str
    can_learn: tuple[str, ...] | None = Field(default=None, description="Task types; None: all.")
    cannot_learn: tuple[str, ...] = Field(default=(), description="Task types; wins over `can_learn`.")
    min_occurrences: int | None = Field(default=None, ge=1, description="None: as for all agents.")


class AttemptParams(_Frozen):
    """Which outcomes are attempts, which of them count, of which task type, and in whose scope."""

    method: Annotated[str, chosen_method("attempts.method")] = "attempt/2"
    learn_from_inferred: bool = Field(
        default=False,
        description="Outcomes with basis `inferred` are learned from, where nobody reported or evaluated one.",
    )
    task_type_method: Annotated[str, chosen_method("attempts.task_type_method")] = "task_type/1"
    not_attempted: tuple[NotAttempted, ...] = (
        NotAttempted(
            reason="cascade: another step it depends on had failed",
            pattern=r"(?i)^[^\n]*\bdepends on\b|\b(sibling|parallel) tool call errored\b|"
            rf"{_BEGIN}(?:{_STEP} )?(?:\S+ )?(?:was )?(skipped|skipping|not run|blocked)\b[^\n]{{0,60}}\b"
            r"(dependenc\w+|depends|prerequisites?|"
            rf"(upstream|parent|previous|earlier|sibling) {_STEP})\b|"
            rf"{_BEGIN}(dependency|prerequisite)( {_STEP}|( ['\"][^'\"\n]*['\"]))? "
            r"(failed|errored|not met|was skipped)\W*$|"
            rf"{_BEGIN}(the )?(upstream|parent|previous|earlier) {_STEP} (failed|errored|was skipped)\b|"
            r"^\W*upstream_failed\W*$",
            # what depends on something else is often a real error of a real attempt
            unless=r"(?i)(?-i:[A-Z]\w*(Error|Exception)\b)|\bassert|\w error: |\bcircular\b|\bundefined\b|"
            r"\bnot installed\b|\b(conflict|incompatible|versions?|resolution|pip|npm|apt)\b",
        ),
        NotAttempted(
            reason="never started",
            pattern=rf"{_BEGIN}(the |this )?({_STEP} )?(was |were )?(skipped|not (run|executed|started|attempted)|"
            r"never (ran|run|started|executed|attempted)|did not (run|start)|didn't (run|start))"
            r"\W*($|(because|since|due to|by|after|until)\b)",
        ),
        NotAttempted(
            reason="cancelled",
            pattern=r"(?i)\b(cancell?ed|aborted|interrupted|stopped|terminated) by (the )?(user|operator|caller|client)"
            r"\W*($|\b(after|before|at|on|while)\b)|"
            r"\buser (cancell?ed|aborted|interrupted|stopped)\b|"
            rf"{_BEGIN}(the |this )?({_STEP} |request |operation )?(was |has been )?cancell?ed"
            r"\W*($|(by|because|before|superseded|in favou?r)\b)|"
            r"^\W*(KeyboardInterrupt|SIGINT|AbortError: [Tt]h(e|is) (operation|user) (was )?aborted[^\n]*)\W*$",
        ),
        NotAttempted(
            reason="refused by the user",
            pattern=r"(?i)\buser (doesn['’]t|does not|didn['’]t|did not) want to\b|"
            r"\b(the|human) (user|reviewer) (has )?(rejected|refused|declined|denied|disallowed)\b|"
            rf"{_BEGIN}(human|user) (has )?(rejected|refused|declined|denied|disallowed)(\W*$| (the|this|to|it)\b)|"
            r"\b(rejected|refused|declined|denied) by (the |a )?(user|human)( reviewer)?\W*($|\b(at|on|because)\b)|"
            r"\btool use was rejected\b|\bpermission to use [^\n]{1,80} has been denied\b|"
            r"\brequested permissions? to use\b|\b(command|tool call) was not approved\b|"
            r"^\W*approval (was )?denied\W*$",
        ),
    )
    task_types: tuple[TaskTypeRule, ...] = (
        TaskTypeRule(task_type="testing", pattern=r"(?i)\b(test|validat)"),
        TaskTypeRule(task_type="api_testing", pattern=r"(?i)\b(apis?|endpoints?)\b"),
        TaskTypeRule(task_type="form_testing", pattern=r"(?i)\b(forms?|input)\b"),
        TaskTypeRule(task_type="database_validation", pattern=r"(?i)\b(databases?|quer(y|ies)|sql)\b"),
        TaskTypeRule(task_type="debugging", pattern=r"(?i)\b(bugs?|debug\w*|fix\w*|traceback|crash\w*)\b"),
        TaskTypeRule(task_type="refactoring", pattern=r"(?i)\b(refactor\w*|renam(e|ing)|restructur\w*|clean ?up)\b"),
        TaskTypeRule(task_type="deployment", pattern=r"(?i)\b(deploy\w*|releas\w+|rollback|provision\w*|migrat\w+)\b"),
        TaskTypeRule(task_type="documentation", pattern=r"(?i)\b(document\w*|readme|docs?|docstrings?|changelog)\b"),
        TaskTypeRule(task_type="coding", pattern=r"(?i)\b(implement\w*|code|coding|function|class|script|program)\b"),
        TaskTypeRule(task_type="analysis", pattern=r"(?i)\b(analy[sz]\w*|reports?|charts?|plots?|statistics)\b"),
        TaskTypeRule(task_type="research", pattern=r"(?i)\b(research\w*|search\w*|look up|investigat\w*|find)\b"),
        TaskTypeRule(task_type="writing", pattern=r"(?i)\b(writ(e|ing)|draft\w*|summar\w*|translat\w*|e-?mails?)\b"),
    )
    other_task_type: str = Field(default="general", description="Task type of a task that no rule knows.")
    scopes: tuple[AgentScope, ...] = Field(default=(), description="Agents that learn from some task types only.")
    min_occurrences: int = Field(
        default=3, ge=1, description="Attempts a strategy needs before it may be called reliable."
    )

    @field_validator("not_attempted", "task_types")
    @classmethod
    def _patterns_are_usable(
        cls, rules: tuple[NotAttempted | TaskTypeRule, ...]
    ) -> tuple[NotAttempted | TaskTypeRule, ...]:
        """What the owner gives is tried out. The defaults are not: importing this must not start Polars' threads."""
        for rule in rules:
            for pattern in (rule.pattern, getattr(rule, "unless", None)):
                try:
                    pl.select(pl.lit("").str.contains(pattern or ""))
                except pl.exceptions.ComputeError as error:
                    message = f"{pattern!r} is no regular expression that can be used: {error}"
                    raise ValueError(message) from error
        return rules


class HeuristicParams(BaseModel):
    """Trend and reliability of strategies."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    method: Annotated[str, chosen_method("heuristics.method")] = Field(
        default="heuristic/3",
        description="How confidence is estimated, by `confidence`; trend and scorecard go with it.",
    )
    trend_days: int = Field(default=28, ge=1, description="The last days, compared with all before them.")
    trend_min_sessions: int = Field(default=3, ge=1, description="Sessions needed on both sides of the comparison.")
    trend_probability: float = Field(
        default=0.95, gt=0.5, lt=1, description="Posterior probability from which a change of success is called one."
    )
    trend_agreement_days: int = Field(
        default=7, ge=1, description="Two looks so far apart must agree before a trend changes its word."
    )
    reliable_above: float = Field(
        default=0.5, ge=0, lt=1, description="A reliable strategy's lower bound is above this (ALMA: success over .5)."
    )


# How the forecasts are graded.


class ScorecardParams(BaseModel):
    """What is graded."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    horizon_days: int = Field(default=7, ge=1, description="A forecast is for the attempts of so many days.")
    cutoffs: int = Field(default=26, ge=1, description="At most so many past Mondays, the latest.")
    resamples: int = Field(default=100, ge=20, description="Draws of days for each interval.")
    interval_mass: float = Field(default=0.9, gt=0, lt=1, description="Mass of the intervals.")


class LearningParams(Protocol):
    """The params that everything learned of strategies depends on."""

    attempts: AttemptParams
    confidence: ConfidenceParams
    heuristics: HeuristicParams
    anti_patterns: AntiPatternParams
    scorecard: ScorecardParams
