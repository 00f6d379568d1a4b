-- severity: warn
-- Attempts outside their agent's scope (`[[attempts.scopes]]` in params.toml) were not learned from.
SELECT project, agent, task_type, count(*) AS attempts
FROM counted_outcomes
WHERE is_attempt AND starts_with(reason, 'out of scope')
GROUP BY ALL
ORDER BY attempts DESC
