-- question: Which injected ids has no memory ever had?
-- columns: memory_id – the id as interactions declare it; injected_count (interactions) – declared it;
--   first_at (UTC) – the first of them; last_at (UTC) – the last of them; projects – where; agents – by whom
SELECT
    memory_id,
    count(*) AS injected_count,
    min(occurred_at) AS first_at,
    max(occurred_at) AS last_at,
    list(DISTINCT r.project ORDER BY r.project) AS projects,
    list(DISTINCT r.agent ORDER BY r.agent) AS agents
FROM memory_references AS r
JOIN memory_health AS h USING (memory_id)
WHERE is_injected AND h.status IS NULL
GROUP BY memory_id
ORDER BY injected_count DESC, memory_id
