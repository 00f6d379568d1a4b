-- severity: fail
-- An open strategy to avoid failed more often than its comparables, and a hard task names no alternative.
SELECT project, agent, task_type, strategy_id, kind, failure_rate, baseline_rate
FROM anti_patterns
WHERE
    kind = 'avoid' AND state = 'open' AND coalesce(failure_rate <= baseline_rate, true)
    OR kind = 'hard_task' AND better_alternative_strategy_id IS NOT NULL
