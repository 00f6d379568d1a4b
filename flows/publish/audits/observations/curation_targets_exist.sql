-- severity: fail
-- A curation decision is about a memory that was considered and is known, or adds one.
SELECT c.memory_id, c.changed_at, c.action, c.target_memory_id
FROM curation_decisions AS c
LEFT JOIN memory_health AS h ON h.memory_id = c.target_memory_id
WHERE
    (c.action = 'add') <> (c.target_memory_id IS NULL)
    OR (c.target_memory_id IS NULL) <> (c.target_content IS NULL)
    OR (c.target_memory_id IS NOT NULL AND h.status IS NULL)
    OR (c.target_memory_id IS NOT NULL AND NOT list_contains(c.considered_ids, c.target_memory_id))
    OR len(c.considered_ids) <> len(list_distinct(c.considered_ids))
    OR c.reason = ''
    OR c.similarity NOT BETWEEN 0 AND 1
