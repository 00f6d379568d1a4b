-- severity: fail
-- Attempts and successes of heuristics are the rows of counted_outcomes that are learned from.
SELECT
    h.project,
    h.agent,
    h.task_type,
    h.strategy_id,
    h.attempts,
    h.successes,
    o.attempts AS attempts_counted,
    o.successes AS successes_counted
FROM heuristics AS h
FULL JOIN (
    SELECT project, agent, task_type, strategy_id, count(*) AS attempts, count(*) FILTER (success) AS successes
    FROM counted_outcomes
    WHERE is_learned
    GROUP BY ALL
) AS o USING (project, agent, task_type, strategy_id)
WHERE h.attempts IS DISTINCT FROM o.attempts OR h.successes IS DISTINCT FROM o.successes
