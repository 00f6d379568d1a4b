-- severity: fail
-- anti_patterns has one row per project, agent, task_type, strategy_id and error_id, and none without.
SELECT project, agent, task_type, strategy_id, error_id, count(*) AS rows
FROM anti_patterns
GROUP BY ALL
HAVING count(*) > 1 OR project IS NULL OR agent IS NULL OR task_type IS NULL OR strategy_id IS NULL OR error_id IS NULL
