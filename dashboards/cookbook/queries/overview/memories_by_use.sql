-- question: How many active memories are used, not used, never injected, undetectable, or too new to say?
-- columns: use – used, an answer quotes or uses it, else new, created less than `grace_days` ago, unused, undetectable,
--   never injected, or unproven, injected and not surely unused; memories_count (memories) – so many;
--   tokens (tokens) – of their texts, estimated as a quarter of their characters
-- params: agent=%; grace_days=14; project=%; tag=%; user=%
-- Where the log does not say what was injected, no memory was.
SELECT
    CASE
        WHEN use_state = 'used' THEN 'used'
        WHEN created_at > as_of - to_days($grace_days::INTEGER) THEN 'new'
        WHEN use_state = 'not_used' THEN 'unused'
        WHEN use_state = 'undetectable' THEN 'undetectable'
        WHEN injected_count > 0 THEN 'unproven'
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
ORDER BY list_position(['used', 'new', 'unused', 'never injected', 'unproven', 'undetectable'], use)
