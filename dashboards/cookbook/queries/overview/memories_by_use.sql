-- question: How many active memories are used, injected without a use, never injected, or too new to say?
-- columns: use – used, an answer quotes or uses it, else new, created less than `grace_days` ago, unused, injected
--   `at_least` times or more, rarely injected, fewer times, or never injected; memories_count (memories) – so many;
--   tokens (tokens) – of their texts, estimated as a quarter of their characters
-- params: agent=%; at_least=10; grace_days=14; project=%; tag=%; user=%
-- Of uses a part is found. Where the log does not say what was injected, no memory was.
SELECT
    CASE
        WHEN reference_count > 0 THEN 'used'
        WHEN created_at > as_of - to_days($grace_days::INTEGER) THEN 'new'
        WHEN injected_count >= $at_least::BIGINT THEN 'unused'
        WHEN injected_count > 0 THEN 'rarely injected'
        ELSE 'never injected'
    END AS use,
    count(*) AS memories_count,
    sum(ceil(length(content) / 4))::BIGINT AS tokens
FROM memory_health
WHERE
    status = 'active'
    AND coalesce(project, '') LIKE $project ESCAPE '\'
    AND (agent LIKE $agent ESCAPE '\' OR coalesce(agent, '') = '')
    AND coalesce(user_id, '') LIKE $user ESCAPE '\'
    AND ($tag = '%' OR len(list_filter(tags, lambda tag: tag LIKE $tag ESCAPE '\')) > 0)
GROUP BY use
ORDER BY list_position(['used', 'new', 'unused', 'rarely injected', 'never injected'], use)
