-- severity: fail
-- The totals of a project are those of its memories in memory_health.
SELECT project, p.active_count, m.active_count AS found_active_count
FROM project_health AS p
FULL JOIN (
    SELECT
        coalesce(project, '') AS project,
        count(status) AS memories_count,
        count(*) FILTER (status = 'active') AS active_count,
        count(*) FILTER (status IN ('superseded', 'invalid', 'archived', 'graduated', 'expired')) AS inactive_count,
        sum(injected_count) AS injected_count,
        sum(reference_count) AS reference_count,
        sum((used_expected * 10000)::BIGINT) AS expected,
        count(*) FILTER (verdict = 'forget') AS forget_count,
        count(*) FILTER (verdict = 'harmful') AS harmful_count
    FROM memory_health
    GROUP BY ALL
) AS m USING (project)
LEFT JOIN (
    SELECT coalesce(h.project, '') AS project, count(*) AS scope_leak_count
    FROM scope_leaks AS s
    JOIN memory_health AS h USING (memory_id)
    GROUP BY ALL
) AS l USING (project)
WHERE
    (p.memories_count, p.active_count, p.inactive_count, p.injected_count, p.reference_count, p.forget_count, p.harmful_count)
    IS DISTINCT FROM
    (m.memories_count, m.active_count, m.inactive_count, m.injected_count, m.reference_count, m.forget_count, m.harmful_count)
    OR (p.used_expected * 10000)::BIGINT IS DISTINCT FROM m.expected
    OR p.scope_leak_count IS DISTINCT FROM coalesce(l.scope_leak_count, 0)
