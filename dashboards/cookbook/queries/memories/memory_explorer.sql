-- question: Which memories are there, of all or of those that fit, a page at a time?
-- columns: memory_id – the memory; project – its project, '' is none; memory_type – its type; status – its state;
--   verdict – keep, review, forget, harmful, unproven or inactive; trend – of its use; confidence (0-1) – how its uses
--   ended beyond what was expected; confidence_low (0-1) – lower end of its 90 % credible interval; confidence_high
--   (0-1) – upper end; strength (0-1) – how much of its evidence is left; need_30d (probability) – at least one
--   reference in 30 days; eligible_count (interactions) – could have used it; injected_count (interactions) – were
--   given it; reference_count (interactions) – answers that quote or use it, a minimum; last_referenced_at (UTC) –
--   the last of them; content (first 200 characters) – its text; memories_count (memories) – that fit, on all pages
--   together
-- params: search=; project=%; agent=%; user=%; tag=%; since=; until=; status=%; verdict=%; trend=%; memory_type=%; sort=verdict; limit=50; offset=0
-- `search` is found anywhere in the text or the id, upper or lower case, and no pattern. With `since` or `until` (days,
-- both included) those whose last reference is of these days. `sort` is verdict (what needs a
-- person first, most loss avoided per minute of looking), references, needed, weakest, surest (highest lower end of
-- confidence), doubtful (lowest upper end), newest, last_used, or memory_id; any other is memory_id. A status, project or
-- type that is not known is ''.
WITH fitting AS MATERIALIZED (
    SELECT
        memory_id,
        CASE $sort
            WHEN 'verdict' THEN list_position(['harmful', 'forget', 'review', 'unproven', 'keep', 'inactive'], verdict)
            WHEN 'references' THEN -reference_count
            WHEN 'needed' THEN -need_30d
            WHEN 'weakest' THEN strength
            WHEN 'surest' THEN -confidence_low
            WHEN 'doubtful' THEN confidence_high
            WHEN 'newest' THEN -epoch(created_at)
            WHEN 'last_used' THEN -epoch(last_referenced_at)
        END AS first_key,
        CASE WHEN $sort = 'verdict' THEN -review_value END AS second_key
    FROM memory_health
    WHERE
        (
            $search = ''
            OR contains(lower(coalesce(content, '')), lower($search))
            OR contains(lower(memory_id), lower($search))
        )
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
),
page AS (
    FROM fitting
    ORDER BY first_key NULLS LAST, second_key NULLS LAST, memory_id
    LIMIT $limit::BIGINT OFFSET $offset::BIGINT
)
SELECT
    h.memory_id,
    h.project,
    h.memory_type,
    h.status,
    h.verdict,
    h.trend,
    h.confidence,
    h.confidence_low,
    h.confidence_high,
    h.strength,
    h.need_30d,
    h.eligible_count,
    h.injected_count,
    h.reference_count,
    h.last_referenced_at,
    left(h.content, 200) AS content,
    (SELECT count(*) FROM fitting) AS memories_count
FROM page
JOIN memory_health AS h USING (memory_id)
ORDER BY page.first_key NULLS LAST, page.second_key NULLS LAST, memory_id
