-- severity: fail
-- The last row of a memory's history is its row in memory_health.
SELECT h.memory_id, l.last.day, h.eligible_count, l.last.eligible_count AS history_eligible_count
FROM memory_health AS h
FULL JOIN (
    SELECT
        memory_id,
        arg_max(
            {
                'day': day,
                'eligible_count': eligible_count,
                'injected_count': injected_count,
                'echoed_count': echoed_count,
                'used_count': used_count,
                'used_expected': used_expected,
                'cited_count': cited_count,
                'reference_count': reference_count,
                'status': status,
                'reinforced_confidence': reinforced_confidence
            },
            day
        ) AS last
    FROM memory_health_history
    GROUP BY memory_id
) AS l USING (memory_id)
WHERE
    (h.eligible_count, h.injected_count, h.echoed_count, h.used_count, h.cited_count, h.reference_count)
    IS DISTINCT FROM (
        l.last.eligible_count,
        l.last.injected_count,
        l.last.echoed_count,
        l.last.used_count,
        l.last.cited_count,
        l.last.reference_count
    )
    OR h.used_expected IS DISTINCT FROM l.last.used_expected
    OR h.status IS DISTINCT FROM l.last.status
    OR h.reinforced_confidence IS DISTINCT FROM l.last.reinforced_confidence
