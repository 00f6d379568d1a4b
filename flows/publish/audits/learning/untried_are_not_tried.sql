-- severity: fail
-- A strategy that was tried somewhere is not listed as untried there.
SELECT u.project, u.agent, u.task_type, u.strategy_id
FROM untried_strategies AS u
JOIN heuristics AS h USING (project, agent, task_type, strategy_id)
