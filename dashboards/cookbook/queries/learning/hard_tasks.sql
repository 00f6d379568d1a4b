-- question: At which tasks does no strategy succeed?
-- columns: project – the project; task_type – kind of task; strategies – that keep failing at it; failures – their failed
--   attempts; attempts – their attempts; error_template – the error behind most failures of one of them, NULL if none is;
--   last_seen_at (UTC) – last failure
-- params: project=%; task_type=%
SELECT
    project,
    task_type,
    count(*) AS strategies,
    sum(failures)::BIGINT AS failures,
    sum(attempts)::BIGINT AS attempts,
    arg_max(error_template, error_failures ORDER BY strategy_id) AS error_template,
    max(last_seen_at) AS last_seen_at
FROM anti_patterns
WHERE
    kind = 'hard_task'
    AND state = 'open'
    AND project LIKE $project ESCAPE '\'
    AND task_type LIKE $task_type ESCAPE '\'
GROUP BY project, task_type
ORDER BY failures DESC, project, task_type
