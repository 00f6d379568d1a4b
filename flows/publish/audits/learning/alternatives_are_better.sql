-- severity: fail
-- A better alternative is of the same project, agent and task type, with a lower bound above the other's confidence.
SELECT a.project, a.agent, a.task_type, a.strategy_id, a.better_alternative_strategy_id
FROM anti_patterns AS a
JOIN heuristics AS own USING (project, agent, task_type, strategy_id)
LEFT JOIN heuristics AS other
    ON
        other.project = a.project AND other.agent = a.agent AND other.task_type = a.task_type
        AND other.strategy_id = a.better_alternative_strategy_id
WHERE
    a.better_alternative_strategy_id IS NOT NULL
    AND (other.confidence_low IS NULL OR other.confidence_low <= own.confidence)
