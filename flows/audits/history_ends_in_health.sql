-- severity: fail
-- The last row of a memory's history is its row in memory_health.
SELECT h.memory_id, l.day, h.eligible_count, l.eligible_count AS history_eligible_count
FROM memory_health AS h
FULL JOIN (
    FROM memory_health_history
    QUALIFY row_number() OVER (PARTITION BY memory_id ORDER BY day DESC) = 1
) AS l USING (memory_id)
WHERE
    (h.eligible_count, h.injected_count, h.echoed_count, h.reference_count)
    IS DISTINCT FROM (l.eligible_count, l.injected_count, l.echoed_count, l.reference_count)
    OR h.status IS DISTINCT FROM l.status
    OR h.reinforced_confidence IS DISTINCT FROM l.reinforced_confidence
