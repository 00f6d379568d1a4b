-- question: How many memories fit what the explorer is asked for?
-- columns: verdict – keep, review, forget, harmful, unproven or inactive; memories_count (memories) – with it, on all
--   pages of `memory_explorer` together
-- params: search=; project=%; agent=%; user=%; tag=%; since=; until=; status=%; verdict=%; trend=%; memory_type=%
SELECT verdict, count(*) AS memories_count
FROM memory_health
WHERE
    (contains(lower(coalesce(content, '')), lower($search)) OR contains(lower(memory_id), lower($search)))
    AND coalesce(project, '') LIKE $project ESCAPE '\'
    AND (agent LIKE $agent ESCAPE '\' OR coalesce(agent, '') = '')
    AND coalesce(user_id, '') LIKE $user ESCAPE '\'
    AND ($tag = '%' OR len(list_filter(tags, lambda tag: tag LIKE $tag ESCAPE '\')) > 0)
    AND ($since = '' OR last_referenced_at >= nullif($since, '')::DATE)
    AND ($until = '' OR last_referenced_at < nullif($until, '')::DATE::TIMESTAMP + INTERVAL 1 DAY)
    AND coalesce(status, '') LIKE $status ESCAPE '\'
    AND verdict LIKE $verdict ESCAPE '\'
    AND trend LIKE $trend ESCAPE '\'
    AND coalesce(memory_type, '') LIKE $memory_type ESCAPE '\'
GROUP BY verdict
ORDER BY memories_count DESC, verdict
