-- question: How often were agents given memories that were superseded, invalid or expired, week by week?
-- columns: project – of the interactions, '' is none; week (UTC) – its Monday; superseded_count (injections) – of
--   memories that were superseded; invalid_count (injections) – invalid; expired_count (injections) – expired;
--   memories_count (memories) – how many different ones; interactions_count (interactions) – that were given one
-- params: project=%
SELECT
    project,
    date_trunc('week', occurred_at)::DATE AS week,
    count(*) FILTER (status = 'superseded') AS superseded_count,
    count(*) FILTER (status = 'invalid') AS invalid_count,
    count(*) FILTER (status = 'expired') AS expired_count,
    count(DISTINCT memory_id) AS memories_count,
    count(DISTINCT interaction_id) AS interactions_count
FROM stale_injections
WHERE project LIKE $project ESCAPE '\'
GROUP BY project, week
ORDER BY week DESC, project
