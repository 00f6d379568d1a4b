-- question: Which memories do answers name themselves, and were these given to them, and found in them?
-- columns: memory_id – the memory; project – its project, '' is none, NULL never landed; status – its state, NULL never
--   landed; cited_count (interactions) – whose answer names it; given_count (interactions) – of them, those that were
--   given it; found_count (interactions) – of them, those whose answer was found to quote or use it; last_cited_at (UTC)
--   – the last of them; content – its text
-- params: project=%; limit=20
-- A producer says what an answer names (`memories_cited`). Found is a minimum: some uses cannot be detected.
SELECT
    h.memory_id,
    h.project,
    h.status,
    h.cited_count,
    count(*) FILTER (r.is_injected) AS given_count,
    count(*) FILTER (r.is_echoed OR r.is_used) AS found_count,
    max(r.occurred_at) AS last_cited_at,
    h.content
FROM memory_health AS h
JOIN memory_references AS r USING (memory_id)
WHERE r.is_cited AND coalesce(h.project, '') LIKE $project ESCAPE '\'
GROUP BY ALL
ORDER BY h.cited_count DESC, h.memory_id
LIMIT $limit::BIGINT
