-- severity: fail
-- untried_strategies has one row per project, agent, task_type and strategy_id, and none without.
SELECT project, agent, task_type, strategy_id, count(*) AS rows
FROM untried_strategies
GROUP BY ALL
HAVING count(*) > 1 OR project IS NULL OR agent IS NULL OR task_type IS NULL OR strategy_id IS NULL
