-- severity: fail
-- All rows of a publish carry one run_id and one as_of.
SELECT run_id, as_of
FROM (
    SELECT run_id, as_of FROM memory_health
    UNION
    SELECT run_id, as_of FROM memories_now
    UNION
    SELECT run_id, as_of FROM memory_health_history
    UNION
    SELECT run_id, as_of FROM memory_references
    UNION
    SELECT run_id, as_of FROM stale_injections
    UNION
    SELECT run_id, as_of FROM scope_leaks
    UNION
    SELECT run_id, as_of FROM landed_days
    UNION
    SELECT run_id, as_of FROM use_by_day
    UNION
    SELECT run_id, as_of FROM attempts_by_injection
    UNION
    SELECT run_id, as_of FROM heuristics
    UNION
    SELECT run_id, as_of FROM untried_strategies
    UNION
    SELECT run_id, as_of FROM task_difficulty
    UNION
    SELECT run_id, as_of FROM anti_patterns
    UNION
    SELECT run_id, as_of FROM strategy_variants
    UNION
    SELECT run_id, as_of FROM error_templates
    UNION
    SELECT run_id, as_of FROM counted_outcomes
    UNION
    SELECT run_id, as_of FROM forecast_fits
    UNION
    SELECT run_id, as_of FROM scorecard
    UNION
    SELECT run_id, as_of FROM project_health
    UNION
    SELECT run_id, as_of FROM answerable_questions
    UNION
    SELECT run_id, as_of FROM forgetting_plan
    UNION
    SELECT run_id, as_of FROM observations
    UNION
    SELECT run_id, as_of FROM curation_decisions
    UNION
    SELECT run_id, as_of FROM forgetting_quotas
    UNION
    SELECT run_id, as_of FROM forgetting_audit
    UNION
    SELECT run_id, as_of FROM regret
    UNION
    SELECT run_id, as_of FROM strength_fits
    UNION
    SELECT run_id, as_of FROM need_fits
    UNION
    SELECT run_id, as_of FROM review_queue
    UNION
    SELECT run_id, as_of FROM review_statements
    UNION
    SELECT run_id, as_of FROM review_decisions
    UNION
    SELECT run_id, as_of FROM chunk_use
    UNION
    SELECT run_id, as_of FROM instruction_checks
    UNION
    SELECT run_id, as_of FROM set_aside
)
QUALIFY count(*) OVER () > 1
