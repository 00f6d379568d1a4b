-- severity: warn
-- Memories whose first change is dated after they were first injected: what they were then is not known, nor eligible.
SELECT memory_health.memory_id, min(occurred_at) AS first_injected_at, any_value(created_at) AS created_at
FROM memory_references
JOIN memory_health ON memory_health.memory_id = memory_references.memory_id
WHERE is_injected AND occurred_at < created_at
GROUP BY ALL
ORDER BY ALL
