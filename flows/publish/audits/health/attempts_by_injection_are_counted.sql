-- severity: fail
-- attempts_by_injection has the attempts of interactions that landed, and no more of a day's project than counted_outcomes.
SELECT b.project, b.task_type, b.attempts, b.successes, o.attempts AS counted
FROM (
    SELECT project, agent, task_type, sum(attempts) AS attempts, sum(successes) AS successes
    FROM attempts_by_injection
    GROUP BY ALL
) AS b
LEFT JOIN (
    SELECT
        coalesce(project, '') AS project,
        coalesce(agent, '') AS agent,
        coalesce(task_type, '') AS task_type,
        count(*) FILTER (interaction_id IS NOT NULL) AS attempts,
        count(*) FILTER (success AND interaction_id IS NOT NULL) AS successes
    FROM counted_outcomes
    WHERE is_counted
    GROUP BY ALL
) AS o USING (project, agent, task_type)
WHERE
    b.successes NOT BETWEEN 0 AND b.attempts
    OR b.attempts < 1
    OR b.attempts > coalesce(o.attempts, 0)
    OR b.successes > coalesce(o.successes, 0)
