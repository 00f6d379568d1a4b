-- question: Why does one memory have its verdict?
-- columns: memory_id – the memory; verdict – keep, review, forget, harmful, unproven or inactive; number – order of
--   the reason; reason – what was measured
-- params: memory_id
SELECT
    memory_id,
    verdict,
    unnest(range(1, len(reasons) + 1)) AS number,
    unnest(reasons) AS reason
FROM memory_health
WHERE memory_id = $memory_id
ORDER BY number
