-- question: Which memories were injected on days that ended with them no longer active?
-- columns: memory_id – the memory; project – its project, '' is none;
--   status_then – its state at the end of those days; injected_count (interactions) – were given it on such days;
--   last_at (UTC) – the last of them; content – its text
SELECT
    r.memory_id,
    any_value(h.project) AS project,
    p.status AS status_then,
    count(*) AS injected_count,
    max(r.occurred_at) AS last_at,
    any_value(h.content) AS content
FROM memory_references AS r
ASOF JOIN memory_health_history AS p ON r.memory_id = p.memory_id AND r.occurred_at::DATE >= p.day
JOIN memory_health AS h ON r.memory_id = h.memory_id
WHERE r.is_injected AND p.status NOT IN ('active', 'candidate')
GROUP BY r.memory_id, p.status
ORDER BY injected_count DESC, r.memory_id, p.status
