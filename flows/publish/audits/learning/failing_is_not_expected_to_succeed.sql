-- severity: fail
-- What is said to keep failing is not said to succeed more often than not.
SELECT a.project, a.agent, a.task_type, a.strategy_id
FROM anti_patterns AS a
JOIN heuristics AS h USING (project, agent, task_type, strategy_id)
WHERE a.state = 'open' AND h.confidence > 0.5
