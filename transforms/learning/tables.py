"""What is published of outcomes: strategies, mistakes, and how good the forecasts were."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar, Literal

from slowwave.transforms.core.schema import State, Table, column
from slowwave.transforms.core.vocabularies import AS_OF, RUN_ID, STRATEGY_KEY, AntiPatternKind, Basis, Trend

_CELL_PROJECT = "Key: project; '' is none."
_CELL_AGENT = "Key: agent; '' is none."
_CELL_TASK_TYPE = (
    "Key: kind of task, as said or inferred from the task's words. '' when none was said and the task tells none."
)
_CELL_STRATEGY = "Key: the strategy, whatever its wording (`strategy_variants`)."


class CountedOutcomes(Table):
    """As what each outcome counts: whether it was an attempt, whether it is learned from, and if not, why."""

    name: ClassVar[str] = "counted_outcomes"
    key: ClassVar[tuple[str, ...]] = ("outcome_id",)

    outcome_id: str = column("Key.")
    interaction_id: str | None = column("The interaction. This is its outcome. NULL: none was said.")
    created_at: datetime = column("When it began. Start of the task.", unit="UTC")
    known_at: datetime = column("From when it counts: when it was recorded, never before it started.", unit="UTC")
    project: str = column("Project; '' is none. Its own or its interaction's.")
    agent: str = column("Agent; '' is none. Its own or its interaction's.")
    user_id: str | None = column("User it is about. Its own or its interaction's. NULL: none was said.")
    block: str = column("Its session, without one its interaction, else itself: attempts of one block count together.")
    task_type: str = column("Kind of task, as said or inferred from the task's words. '' is none.")
    is_task_type_inferred: bool = column("The kind of task was inferred from words of the task (`task_type/1`).")
    strategy_id: str | None = column("The strategy, whatever its wording (`strategy_variants`). NULL: none was said.")
    error_id: str | None = column(
        "The error: one failing thing, whatever its numbers, ids, times, addresses and temporary paths. See"
        " `error_templates`. NULL: no error text."
    )
    success: bool = column("Whether it worked.")
    basis: Basis = column(
        "How it is known: reported by the program or the person, evaluated by a grader, or inferred by a rule."
    )
    basis_method: str | None = column("What graded or inferred it, with version. NULL: not said.")
    is_attempt: bool = column("It was really tried: no cascade, skip, cancellation or refusal (`attempt/2`).")
    is_counted: bool = column(
        "It is an attempt, and not apart: an inferred one counts only with `learn_from_inferred` (a param), and where"
        " its interaction has no other outcome that was not inferred (`attempt/2`)."
    )
    is_learned: bool = column("It counts in `heuristics`: it is counted, with a strategy, in its agent's scope.")
    is_deciding: bool = column(
        "It is its interaction's latest that is counted, by which the memories used there are judged."
    )
    reason: str | None = column("Why, in words. Of what is no attempt or not learned from. NULL: it is learned from.")
    run_id: str = column(RUN_ID)
    as_of: datetime = column(AS_OF, unit="UTC")


class StrategyVariants(Table):
    """Every wording of every strategy, and why it was taken for that strategy."""

    name: ClassVar[str] = "strategy_variants"
    key: ClassVar[tuple[str, ...]] = ("project", "strategy")

    project: str = column(_CELL_PROJECT)
    strategy: str = column("Key: A wording of the strategy.")
    strategy_id: str = column("The strategy, whatever its wording (`strategy_variants`).")
    representative: str = column("The wording shown for the strategy.")
    reason: str = column("Why, in words.")
    run_id: str = column(RUN_ID)
    as_of: datetime = column(AS_OF, unit="UTC")


class ErrorTemplates(Table):
    """Every error, its variable values taken out, the family it is of, a real example, and why messages were taken."""

    name: ClassVar[str] = "error_templates"
    key: ClassVar[tuple[str, ...]] = ("project", "error_id")

    project: str = column(_CELL_PROJECT)
    error_id: str = column(
        "Key: the error: one failing thing, whatever its numbers, ids, times, addresses and temporary paths."
    )
    error_template: str = column("Text of the error, with placeholders.")
    error_family: str | None = column(
        "Family of errors: what those of the project have in common that differ in what they name. NULL: none is known."
    )
    error_family_template: str | None = column("Its text with placeholders. NULL: as error_family.")
    example: str = column("One real message.")
    reasons: list[str] = column("Why, with the figures; at least one. They say why messages were taken for this error.")
    messages: int = column("Distinct messages taken for it.")
    run_id: str = column(RUN_ID)
    as_of: datetime = column(AS_OF, unit="UTC")


class Heuristics(Table):
    """What is known of each strategy an agent tried on a kind of task: one row per strategy with an attempt."""

    name: ClassVar[str] = "heuristics"
    key: ClassVar[tuple[str, ...]] = STRATEGY_KEY

    project: str = column(_CELL_PROJECT)
    agent: str = column(_CELL_AGENT)
    task_type: str = column(_CELL_TASK_TYPE)
    strategy_id: str = column(_CELL_STRATEGY)
    strategy: str = column("A wording of the strategy. The one that is shown.")
    is_task_type_inferred: bool = column(
        "The kind of task was inferred from words of the task (`task_type/1`). Of every attempt."
    )
    attempts: int = column("Attempts.")
    successes: int = column("Of them successful.")
    success_rate: float = column("successes / attempts, old ones counting as much as new ones.", unit="0-1")
    sessions: int = column("Sessions with such an attempt.")
    confidence: float = column(
        "Estimated success of the next comparable attempt. While a strategy is not tried it moves towards what any"
        " strategy is expected to do there, and none of them overtakes another.",
        unit="0-1",
    )
    confidence_low: float = column(
        "Lower end of the credible interval (90 % by default). For its share of successes in the next seven days.",
        unit="0-1",
    )
    confidence_high: float = column("Upper end of the credible interval.", unit="0-1")
    effective_sessions: float = column("Independent attempts that its own are worth, by age and session (Kish).")
    prior_mean: float = column(
        "What would be expected had it never been tried: from project, agent, kind of task.", unit="0-1"
    )
    prior_share: float = column(
        "Share of `confidence` that its own attempts do not decide. It comes from `prior_mean`, and the longer the"
        " strategy is not tried, by what any strategy is expected to do there.",
        unit="0-1",
    )
    trend: Trend = column(
        "The last 28 days beside all before: strengthening or weakening (success changed, by default with a"
        " probability of 95 %), stable (no such change is detected),"
        " new (not tried before them), stale (not tried in them), unproven (too few sessions). It changes once two"
        " looks a week apart agree."
    )
    first_seen_at: datetime = column("First time. Of its attempts.", unit="UTC")
    last_validated_at: datetime = column("Last attempt.", unit="UTC")
    is_reliable: bool = column("Enough attempts for its agent (3 by default), and the lower bound is above .5.")
    variants: list[str] = column("The wordings used here.")
    run_id: str = column(RUN_ID)
    as_of: datetime = column(AS_OF, unit="UTC")


class UntriedStrategies(Table):
    """Strategies tried elsewhere in the project, but not here by this agent, and what may be expected of them."""

    name: ClassVar[str] = "untried_strategies"
    key: ClassVar[tuple[str, ...]] = STRATEGY_KEY

    project: str = column(_CELL_PROJECT)
    agent: str = column(_CELL_AGENT)
    task_type: str = column(_CELL_TASK_TYPE)
    strategy_id: str = column("Key: the strategy, whatever its wording (`strategy_variants`). Not tried here.")
    strategy: str = column("A wording of the strategy. The one that is shown.")
    confidence: float = column(
        "Estimated success of the next comparable attempt. It would be the first, so relatives alone tell.", unit="0-1"
    )
    confidence_low: float = column("Lower end of the credible interval (90 % by default).", unit="0-1")
    confidence_high: float = column("Upper end of the credible interval.", unit="0-1")
    elsewhere_attempts: int = column("Attempts with the strategy at other kinds of task, by any agent.")
    elsewhere_successes: int = column("Of them successful.")
    twin_attempts: int = column("Attempts with the strategy at this kind of task, by other agents.")
    twin_successes: int = column("Of them successful.")
    here_attempts: int = column("Attempts with other strategies at this kind of task, by any agent.")
    here_successes: int = column("Of them successful.")
    task_estimate: float = column(
        "What the kind of task alone says of a first attempt: `estimate` of `task_difficulty`.", unit="0-1"
    )
    agent_attempts: int = column("Attempts of the agent, whatever the strategy and the kind of task.")
    agent_successes: int = column("Of them successful.")
    best_tried_strategy_id: str = column(
        "The best so far of the strategies the agent tried here, by the lower bound of its confidence."
    )
    best_tried_confidence: float = column("Its confidence.", unit="0-1")
    could_beat_best_tried: bool = column("The upper end here is above that confidence.")
    run_id: str = column(RUN_ID)
    as_of: datetime = column(AS_OF, unit="UTC")


class TaskDifficulty(Table):
    """How often each kind of task succeeded, whoever tried it: the estimate for what is new to the project."""

    name: ClassVar[str] = "task_difficulty"
    key: ClassVar[tuple[str, ...]] = ("project", "task_type")

    project: str = column(_CELL_PROJECT)
    task_type: str = column(_CELL_TASK_TYPE)
    attempts: int = column("Attempts. Those that are learned from, with any strategy, by any agent.")
    successes: int = column("Of them successful.")
    sessions: int = column("Sessions with such an attempt.")
    strategies: int = column("Strategies tried.")
    agents: int = column("Agents that tried.")
    estimate: float = column("(successes + 1) / (attempts + 2): of an attempt with a new strategy.", unit="0-1")
    estimate_low: float = column(
        "Lower end of the credible interval (90 % by default) of that rate, attempts taken as independent.", unit="0-1"
    )
    estimate_high: float = column("Upper end of the same interval.", unit="0-1")
    run_id: str = column(RUN_ID)
    as_of: datetime = column(AS_OF, unit="UTC")


class AntiPatterns(Table):
    """Strategies that fail more often than comparable ones (avoid), and those at tasks where nobody succeeds."""

    name: ClassVar[str] = "anti_patterns"
    key: ClassVar[tuple[str, ...]] = (*STRATEGY_KEY, "error_id")

    project: str = column(_CELL_PROJECT)
    agent: str = column(_CELL_AGENT)
    task_type: str = column(_CELL_TASK_TYPE)
    strategy_id: str = column(_CELL_STRATEGY)
    error_id: str = column(
        "Key: the error: one failing thing, whatever its numbers, ids, times, addresses and temporary paths. Behind at"
        " least half of the failures; '' when there is none such."
    )
    kind: AntiPatternKind = column(
        "Kind of pattern. avoid: fails more often than comparable strategies; hard_task: no strategy with enough"
        " attempts succeeds."
    )
    pattern: str = column("The strategy's shown wording.")
    why_bad: str = column("The evidence in a sentence.")
    error_template: str | None = column("Text of the error, with placeholders. NULL: none stands out.")
    error_family: str | None = column(
        "Family of errors: what those of the project have in common that differ in what they name. Behind at least half"
        " of the failures. NULL: there is none such."
    )
    error_family_template: str | None = column("Its text with placeholders. NULL: as error_family.")
    failures: int = column("Failed attempts.")
    attempts: int = column("Attempts.")
    error_failures: int = column("Failed attempts with that error.")
    error_family_failures: int = column("Failed attempts with errors of that family.", default=0)
    sessions: int = column("Sessions with such an attempt.")
    failure_rate: float = column("failures / attempts.", unit="0-1")
    baseline_rate: float | None = column("Share of comparable attempts that failed. NULL: there are none.", unit="0-1")
    e_value: float = column("Evidence that may be looked at every night: 20 is strong, 1 is none (at most 1e299).")
    q_value: float | None = column("Tonight's false discovery rate by an ordinary test: descriptive only.", unit="0-1")
    cost: float | None = column(
        "What the failures beyond those expected cost: by the owner's param, else by the mean cost, duration or tokens"
        " of its failures, whichever is known first. NULL: not known."
    )
    cost_unit: str | None = column(
        "What `cost` is counted in: ms, tokens, or what the producer said of its costs, such as usd. NULL: nobody said,"
        " or the owner's param gave it."
    )
    better_alternative: str | None = column(
        "The best so far of the strategies of the same project, agent and task type that do not keep failing, where its"
        " lower bound is above this one's confidence. NULL: none tried is that sure, or it is a hard_task."
    )
    better_alternative_strategy_id: str | None = column("Its strategy_id. NULL: none.")
    first_seen_at: datetime = column("First time. Of its failures.", unit="UTC")
    last_seen_at: datetime = column("Last time. Of its failures.", unit="UTC")
    state: Literal["open", "dormant", "closed"] = column(
        "open: keeps failing; closed: no longer does, on recent attempts or compared with others, or is expected to"
        " succeed more often than not; dormant: open, but not tried lately. why_bad says which."
    )
    run_id: str = column(RUN_ID)
    as_of: datetime = column(AS_OF, unit="UTC")


class ForecastFits(Table):
    """How each project's past is weighed in its forecasts, and how well that did on its own past."""

    name: ClassVar[str] = "forecast_fits"
    key: ClassVar[tuple[str, ...]] = ("project",)

    project: str = column(_CELL_PROJECT)
    point: int = column("Number of the chosen point of the declared grid; 0 is the default.")
    half_life_days: float = column("Days after which evidence counts half. Of an attempt.", unit="days")
    half_life_attempts: float | None = column("Later attempts after which one counts half. NULL: only age counts.")
    prior_strength: float = column("Attempts the prior mean is worth.")
    recent_half_life_days: float | None = column(
        "Half-life of a second, shorter memory. NULL: there is none.", unit="days"
    )
    recent_strength: float | None = column("Attempts the longer memory is worth against the shorter. NULL: no second.")
    fit_attempts: int = column("Attempts forecast before they were made, by which the point was chosen.")
    log_loss: float | None = column(
        "Log loss of the chosen parameters on these cases. NULL: none.", unit="nats per case"
    )
    default_log_loss: float | None = column(
        "Log loss of the default parameters on the same cases. NULL: none.", unit="nats per case"
    )
    session_correlation: float = column("How alike two attempts of one session are, beyond their strategy.", unit="0-1")
    record_strength: float | None = column("Attempts the whole record is worth against the decayed one. NULL: unused.")
    relatives_share: float | None = column(
        "Share that is believed of how relatives differ from the project's rate, in logits. NULL: unused.", unit="0-1"
    )
    fading_half_life_days: float | None = column(
        "Days without an attempt after which half of what was known of a strategy is left. NULL: unused.", unit="days"
    )
    newcomers_logit: float | None = column(
        "How much first attempts of strategies ended otherwise than relatives predicted, in logits. NULL: unused."
    )
    dispersion: float | None = column(
        "How much success differs between days, in variances of one attempt: it widens intervals. NULL: unused."
    )
    graded_cells: int | None = column("Strategies and weeks by which the dispersion was chosen. NULL: unused.")
    coverage_day: float | None = column(
        "Of them the share whose successes of the next day lay in the interval. NULL: none.", unit="0-1"
    )
    coverage_week: float | None = column("The same of the next seven days. NULL: none.", unit="0-1")
    records_share: float | None = column(
        "Share of the plain sum of records in the estimates, in logits. NULL: unused.", unit="0-1"
    )
    shift: float | None = column(
        "What is added to the estimates, in logits, as those of late were too low or too high. NULL: unused."
    )
    run_id: str = column(RUN_ID)
    as_of: datetime = column(AS_OF, unit="UTC")


class Scorecard(Table):
    """How well forecasts did: recomputed as of past Mondays, graded on the days after, all on the same cases."""

    name: ClassVar[str] = "scorecard"
    key: ClassVar[tuple[str, ...]] = ("method", "metric", "cutoff_at", "horizon_days")

    method: str = column(
        "Key: the method, with version, that says this. The forecast; base_rate, laplace (successes + 1) / (attempts +"
        " 2), records: its own record shrunk to the sum of the logits of its strategy's and its kind of task's, and"
        " task_difficulty: the success of the kind of task, whoever tried it."
    )
    metric: str = column(
        "Key: brier, log_loss, auc, calibration_in_the_large (observed minus forecast), calibration_slope,"
        " calibration_error, calibration_error_if_perfect (on the same attempts), ..._minus_... (paired difference:"
        " below 0 is better); untried_...: of the strategies first tried after the cutoff;"
        " new_strategy_...: of those of them that nobody in the project had tried, what the kind of task alone says;"
        " interval_coverage: share of the strategies whose successes lay in the interval published; need_... of"
        " need_30d, need_skill is 1 - log loss / that of the base rate; fades_as_said: of the memories said to fade"
        " within 30 days, the share without a reference until then; ..._to_date is over all cutoffs up to this one."
    )
    cutoff_at: datetime = column("Key: forecasts use what was known before this Monday 00:00.", unit="UTC")
    horizon_days: int = column("Key: days after it that are graded.", unit="days")
    value: float | None = column("The grade. NULL: undefined on these attempts.")
    value_low: float | None = column(
        "Lower end of its interval (days or memories drawn with replacement). NULL: undefined."
    )
    value_high: float | None = column("Upper end of its interval. NULL: undefined.")
    attempts: int = column("Attempts. Only those graded count; for need_... and fades_as_said, memories.")
    cutoffs: int = column("Cutoffs they come from.")
    run_id: str = column(RUN_ID)
    as_of: datetime = column(AS_OF, unit="UTC")


# What is carried from night to night of the messages of outcomes: kept in the lake and not published.


class ErrorReadings(State):
    """What each error message says by itself, carried from night to night: it follows from the message."""

    name: ClassVar[str] = "error_readings"
    key: ClassVar[tuple[str, ...]] = ("part",)

    part: str = column("Key: digest of the message.")
    masked: str | None = column("The line that tells the error, values in it by kind. NULL: the message is blank.")
    not_attempted: str | None = column("Why a failure with this message is no attempt. NULL: it does not say so.")
    made_of: str = column("Digest of the rules by which messages were read.")


# What is carried from night to night of the grades of forecasts: kept in the lake and not published.


class StrategyScoresState(State):
    """The rows of scorecard that grade forecasts of strategies, carried from night to night: past weeks stay."""

    name: ClassVar[str] = "strategy_scores_state"
    key: ClassVar[tuple[str, ...]] = ("part", "method", "metric", "cutoff_at", "horizon_days")

    part: str = column("Key: the cutoff in days since 1970, alone or to date; or all cutoffs together.")
    method: str = column("Key: as in scorecard.")
    metric: str = column("Key: as in scorecard.")
    cutoff_at: datetime = column("Key: as in scorecard.", unit="UTC")
    horizon_days: int = column("Key: as in scorecard.", unit="days")
    value: float | None = column("As in scorecard.")
    value_low: float | None = column("As in scorecard.")
    value_high: float | None = column("As in scorecard.")
    attempts: int = column("As in scorecard.")
    cutoffs: int = column("As in scorecard.")
    made_of: str = column("Digest of all that the part was computed from: where that differs, it is computed anew.")
