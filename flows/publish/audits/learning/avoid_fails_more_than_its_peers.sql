-- severity: fail
-- An open strategy to avoid failed more often than its comparables, and a hard task names no alternative.
SELECT a.project, a.agent, a.task_type, a.strategy_id, a.kind, a.failure_rate, a.baseline_rate
FROM anti_patterns AS a
JOIN runs AS r ON r.run_id = a.run_id
WHERE
    NOT list_has_any(r.methods, ['anti_patterns/1', 'anti_patterns/2'])
    AND (
        a.kind = 'avoid' AND a.state = 'open' AND coalesce(a.failure_rate <= a.baseline_rate, true)
        OR a.kind = 'hard_task' AND a.better_alternative_strategy_id IS NOT NULL
    )
