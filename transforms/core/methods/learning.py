"""The released methods of learning from outcomes, of each the earlier version first."""

from __future__ import annotations

from slowwave.transforms.core.methods.method import Method

OF_LEARNING: tuple[Method, ...] = (
    Method(
        id="attempt/2",
        computes="Which outcomes are attempts, and which of them count: inferred ones only where params say so.",
        implementation="slowwave.transforms.learning.outcomes.with_apart",
        chosen_by=("attempts.method",),
        reads=("attempts.not_attempted", "attempts.scopes", "attempts.min_occurrences", "attempts.learn_from_inferred"),
        changed="An inferred outcome counts apart, and never in place of a reported one: to attempt/1 all were alike.",
        golden=("attempt-2/counted_outcomes", "heuristic-3/counted_outcomes"),
    ),
    Method(
        id="task_type/1",
        computes="The kind of a task, from its words, where the producer says none.",
        implementation="slowwave.transforms.learning.outcomes.inferred_task_type",
        chosen_by=("attempts.task_type_method",),
        reads=("attempts.task_types", "attempts.other_task_type"),
        golden=("heuristic-3/counted_outcomes",),
    ),
    Method(
        id="strategy_groups/1",
        computes="Which texts of strategies say the same.",
        implementation="slowwave.transforms.grouping.strategy_groups.strategy_groups",
        chosen_by=("strategies.method",),
        golden=("heuristic-3/strategy_variants",),
    ),
    Method(
        id="error/3",
        computes="Which error messages are of the same failing thing, and which errors are of one family.",
        implementation="slowwave.transforms.grouping.error_fingerprints.ERROR_3",
        chosen_by=("errors.method",),
        reads=(
            *("errors.max_code_points", "errors.max_line_code_points", "errors.max_tokens", "errors.min_words"),
            *("errors.min_words_beside_few", "errors.min_names", "errors.min_identifiers"),
            *("errors.min_words_in_place", "errors.min_words_in_first_place"),
        ),
        changed="What is named tells errors apart: error/2 took failures of different tests, modules, tables for one.",
        golden=("error-3/errors", "heuristic-3/error_templates"),
    ),
    Method(
        id="heuristic/3",
        computes="How likely the next comparable attempt of a strategy succeeds, as its own record says first.",
        implementation="slowwave.transforms.learning.learned.learned_in_order",
        chosen_by=("heuristics.method", "confidence.method"),
        reads=("heuristics", "confidence"),
        changed="Own attempts weigh more; four of one kind decide the side of .5, which time alone does not change;"
        " what was too low or too high of late, or worse than a sum of records, is corrected.",
        golden=(
            "heuristic-3/heuristics",
            "heuristic-3/forecast_fits",
            "heuristic-3/scorecard",
            "heuristic-3/untried_strategies",
        ),
        brings=("strategy_trend/3", "untried/1", "scorecard/2"),
    ),
    Method(
        id="strategy_trend/3",
        computes="Whether a strategy's success changed in its last days, or it was not tried in them.",
        implementation="slowwave.transforms.learning.heuristics.strategy_trends",
        reads=("heuristics",),
        changed="A strategy is stale from the look on at which it was not tried in the last days, until it is.",
        golden=("heuristic-3/heuristics",),
    ),
    Method(
        id="untried/1",
        computes="What relatives let expect of strategies tried elsewhere in the project.",
        implementation="slowwave.transforms.learning.learned.untried_strategies",
        reads=("confidence",),
        golden=("heuristic-3/untried_strategies",),
    ),
    Method(
        id="scorecard/2",
        computes="How good the forecasts made on past Mondays were: as made, as published, and of what was untried.",
        implementation="slowwave.transforms.learning.scorecard_confidence.confidence_scorecard",
        reads=("scorecard",),
        changed="Published and untried forecasts are graded apart, and how much of what came the intervals held.",
        golden=("heuristic-3/scorecard",),
    ),
    Method(
        id="base_rate/1",
        computes="A forecast to compare with: what was usual before.",
        implementation="slowwave.transforms.learning.scorecard_confidence.graded_beliefs",
        golden=("heuristic-3/scorecard", "need-1/scorecard", "strength-2/scorecard"),
    ),
    Method(
        id="laplace/1",
        computes="A forecast to compare with: a strategy's successes + 1 of its attempts + 2.",
        implementation="slowwave.transforms.learning.scorecard_confidence.graded_beliefs",
        golden=("heuristic-3/scorecard",),
    ),
    Method(
        id="records/1",
        computes="A forecast to compare with: the sum of the records of strategy and task.",
        implementation="slowwave.transforms.learning.scorecard_confidence.graded_beliefs",
        golden=("heuristic-3/scorecard",),
    ),
    Method(
        id="anti_patterns/3",
        computes="Which strategies fail more than their comparables, and at which tasks nobody succeeds.",
        implementation="slowwave.transforms.learning.anti_patterns.anti_patterns.anti_patterns",
        chosen_by=("anti_patterns.method",),
        reads=("anti_patterns",),
        changed="A hard_task is one at which no strategy succeeds, and has no alternative; an open avoid fails more"
        " often than its comparables; a closed row says how many attempts succeeded since it kept failing.",
        golden=("anti-patterns-3/anti_patterns", "heuristic-3/anti_patterns"),
    ),
)
