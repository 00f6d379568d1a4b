-- severity: fail
-- confirmed_count and contradicted_count of memory_health are its references by how their interaction's outcome ended.
SELECT
    h.memory_id,
    h.confirmed_count,
    h.contradicted_count,
    r.confirmed,
    r.contradicted
FROM memory_health AS h
LEFT JOIN (
    SELECT
        r.memory_id,
        count(*) FILTER (o.success) AS confirmed,
        count(*) FILTER (NOT o.success) AS contradicted
    FROM memory_references AS r
    JOIN counted_outcomes AS o ON o.interaction_id = r.interaction_id AND o.is_deciding
    WHERE r.is_echoed OR r.is_used
    GROUP BY r.memory_id
) AS r USING (memory_id)
WHERE
    h.confirmed_count IS DISTINCT FROM coalesce(r.confirmed, 0)
    OR h.contradicted_count IS DISTINCT FROM coalesce(r.contradicted, 0)
