-- severity: fail
-- Every count of memory_health is the number of its rows in memory_references.
SELECT
    h.memory_id,
    h.injected_count,
    h.echoed_count,
    h.used_count,
    h.cited_count,
    h.reference_count,
    r.injected,
    r.echoed,
    r.used,
    r.cited,
    r.referenced
FROM memory_health AS h
FULL JOIN (
    SELECT
        memory_id,
        count(*) FILTER (is_injected) AS injected,
        count(*) FILTER (is_echoed) AS echoed,
        count(*) FILTER (is_used) AS used,
        count(*) FILTER (is_cited) AS cited,
        count(*) FILTER (is_echoed OR is_used) AS referenced
    FROM memory_references
    GROUP BY memory_id
) AS r USING (memory_id)
WHERE
    h.injected_count IS DISTINCT FROM coalesce(r.injected, 0)
    OR h.echoed_count IS DISTINCT FROM coalesce(r.echoed, 0)
    OR h.used_count IS DISTINCT FROM coalesce(r.used, 0)
    OR h.cited_count IS DISTINCT FROM coalesce(r.cited, 0)
    OR h.reference_count IS DISTINCT FROM coalesce(r.referenced, 0)
