-- severity: fail
-- Failures and attempts of anti_patterns are the rows of counted_outcomes that are learned from: no cascade makes one.
SELECT
    a.project,
    a.agent,
    a.task_type,
    a.strategy_id,
    a.failures,
    a.attempts,
    o.failures AS failures_counted,
    o.attempts AS attempts_counted
FROM anti_patterns AS a
LEFT JOIN (
    SELECT project, agent, task_type, strategy_id, count(*) AS attempts, count(*) FILTER (NOT success) AS failures
    FROM counted_outcomes
    WHERE is_learned
    GROUP BY ALL
) AS o USING (project, agent, task_type, strategy_id)
WHERE a.failures IS DISTINCT FROM o.failures OR a.attempts IS DISTINCT FROM o.attempts
