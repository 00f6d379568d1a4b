-- question: Which ids that interactions declare has no memory ever had?
-- columns: memory_id – the id as interactions declare it; injected_count (interactions) – were given it;
--   cited_count (interactions) – whose answer names it; first_at (UTC) – the first of them; last_at (UTC) – the last of them; projects – where; agents – by whom
SELECT
    memory_id,
    count(*) FILTER (is_injected) AS injected_count,
    count(*) FILTER (is_cited) AS cited_count,
    min(occurred_at) AS first_at,
    max(occurred_at) AS last_at,
    list(DISTINCT r.project ORDER BY r.project) AS projects,
    list(DISTINCT r.agent ORDER BY r.agent) AS agents
FROM memory_references AS r
JOIN memory_health AS h USING (memory_id)
WHERE (is_injected OR is_cited) AND h.status IS NULL
GROUP BY memory_id
ORDER BY count(*) DESC, memory_id
