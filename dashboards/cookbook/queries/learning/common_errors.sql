-- question: Which errors come up most, and of which family are they?
-- columns: project – the project; error_template – the error, numbers, ids, times and addresses aside;
--   error_family_template – what errors have in common that name different things; failures (attempts) – attempts that
--   failed with it;
--   apart (attempts) – inferred failures with it, not counted; sessions (sessions) – distinct sessions among them; strategies – how many strategies failed with it; example – one
--   real message; last_at (UTC) – the last of them; error_id – for `slowwave why`
-- params: agent=%; project=%; since=1900-01-01; task_type=%; until=9999-12-31; limit=20
-- `since` and `until` are days, both included.
SELECT
    project,
    any_value(e.error_template) AS error_template,
    any_value(e.error_family_template) AS error_family_template,
    count(*) FILTER (o.is_counted) AS failures,
    count(*) FILTER (NOT o.is_counted) AS apart,
    count(DISTINCT o.block) FILTER (o.is_counted) AS sessions,
    count(DISTINCT o.strategy_id) FILTER (o.is_counted) AS strategies,
    any_value(e.example) AS example,
    max(o.created_at) AS last_at,
    error_id
FROM counted_outcomes AS o
JOIN error_templates AS e USING (project, error_id)
WHERE
    o.is_attempt
    AND NOT o.success
    AND project LIKE $project ESCAPE '\'
    AND agent LIKE $agent ESCAPE '\'
    AND task_type LIKE $task_type ESCAPE '\'
    AND o.created_at >= $since::DATE
    AND o.created_at < $until::DATE::TIMESTAMP + INTERVAL 1 DAY
GROUP BY project, error_id
ORDER BY failures DESC, apart DESC, project, error_id
LIMIT $limit::BIGINT
