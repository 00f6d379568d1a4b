-- question: Does success rise or fall from week to week: over real attempts, not over raw rows?
-- columns: week (UTC) – its Monday; project – the project; attempts – real attempts; success_rate (0-1) – of them;
--   outcomes – all rows reported, skips and cascades too; raw_rate (0-1) – what counting them all would say
-- params: project=%
SELECT
    date_trunc('week', created_at)::DATE AS week,
    project,
    count(*) FILTER (is_attempt) AS attempts,
    count(*) FILTER (is_attempt AND success) / nullif(attempts, 0) AS success_rate,
    count(*) AS outcomes,
    count(*) FILTER (success) / outcomes AS raw_rate
FROM counted_outcomes
WHERE project LIKE $project ESCAPE '\'
GROUP BY ALL
ORDER BY week DESC, project
