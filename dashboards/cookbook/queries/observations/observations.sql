-- question: Which facts stand behind the memories, and on how many sources?
-- columns: observation_id – the fact (`why` explains it); project – its project, '' is none; scope – memory type, and
--   agent where there is one; proof_count (sources) – distinct sources; memories_count (memories) – active memories that
--   state it; confidence (0-1) – from how references to them ended, null is not known; freshness – fresh, ageing or
--   stale; trend – of their use; text – the fact in the words of its best memory
-- params: search=; freshness=%; project=%; agent=%; user=%; tag=%; since=; until=; limit=100; offset=0
-- With `since` or `until` (days, both included) those with their last evidence on these days; with `agent`, `user` or
-- `tag` those that a memory of these states. Saying a thing again, or replaying the log, adds no source. `search` is found anywhere in the text, upper or lower
-- case, and no pattern.
SELECT
    observation_id,
    project,
    scope,
    proof_count,
    len(memory_ids) AS memories_count,
    confidence,
    freshness,
    trend,
    text
FROM observations
WHERE
    contains(lower(text), lower($search))
    AND freshness LIKE $freshness ESCAPE '\'
    AND project LIKE $project ESCAPE '\'
    AND ($since = '' OR last_evidence_at >= nullif($since, '')::DATE)
    AND ($until = '' OR last_evidence_at < nullif($until, '')::DATE::TIMESTAMP + INTERVAL 1 DAY)
    AND (
        ($agent = '%' AND $tag = '%' AND $user = '%')
        OR observation_id IN (
            SELECT o.observation_id
            FROM (SELECT observation_id, unnest(memory_ids) AS memory_id FROM observations) AS o
            JOIN memory_health AS h USING (memory_id)
            WHERE
                (h.agent LIKE $agent ESCAPE '\' OR coalesce(h.agent, '') = '')
                AND coalesce(h.user_id, '') LIKE $user ESCAPE '\'
                AND ($tag = '%' OR len(list_filter(h.tags, lambda tag: tag LIKE $tag ESCAPE '\')) > 0)
        )
    )
ORDER BY proof_count DESC, memories_count DESC, last_evidence_at DESC, observation_id
LIMIT $limit::BIGINT OFFSET $offset::BIGINT
