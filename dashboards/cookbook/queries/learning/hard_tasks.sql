-- question: At which tasks does nobody succeed?
-- columns: project – the project; task_type – kind of task; agents (agents) – that keep failing at it; strategies (strategies) –
--   with which they do; failures – their failed attempts; attempts – their attempts; first_seen_at (UTC) – first of these
--   failures; last_seen_at (UTC) – last of them; error_template – the error of the strategy that failed most often; why_hard –
--   the evidence of that strategy
-- params: agent=%; project=%; state=open; since=1900-01-01; task_type=%; until=9999-12-31
-- Those whose last failure is of the days `since` to `until`, both included; figures are of all days.
SELECT
    project,
    task_type,
    count(DISTINCT agent) AS agents,
    count(DISTINCT strategy_id) AS strategies,
    sum(failures)::BIGINT AS failures,
    sum(attempts)::BIGINT AS attempts,
    min(first_seen_at) AS first_seen_at,
    max(last_seen_at) AS last_seen_at,
    first(error_template ORDER BY failures DESC, agent, strategy_id) AS error_template,
    first(why_bad ORDER BY failures DESC, agent, strategy_id) AS why_hard
FROM anti_patterns
WHERE
    kind = 'hard_task'
    AND state = $state
    AND project LIKE $project ESCAPE '\'
    AND agent LIKE $agent ESCAPE '\'
    AND task_type LIKE $task_type ESCAPE '\'
    AND last_seen_at >= $since::DATE
    AND last_seen_at < $until::DATE::TIMESTAMP + INTERVAL 1 DAY
GROUP BY project, task_type
ORDER BY failures DESC, project, task_type
