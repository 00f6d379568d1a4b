-- severity: fail
-- What is pinned, held, waiting for a decision, gone already, or in use without ever a chance is never planned.
SELECT p.memory_id, h.status, h.pinned, h.is_held, h.eligible_count
FROM forgetting_plan AS p
LEFT JOIN memory_health AS h USING (memory_id)
WHERE
    h.memory_id IS NULL OR h.pinned OR h.is_held OR (h.eligible_count = 0 AND h.status = 'active')
    OR coalesce(h.status NOT IN ('active', 'superseded', 'invalid'), true)
