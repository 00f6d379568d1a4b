-- severity: fail
-- landed_days has all outcomes, and all inferred ones, and no fewer interactions than a project's memories were found in.
SELECT 'outcomes' AS landed_table, NULL AS project, day, l.rows_count, o.found
FROM (
    SELECT day, sum(rows_count) AS rows_count, sum(inferred_count) AS inferred_count
    FROM landed_days
    WHERE landed_table = 'outcomes'
    GROUP BY day
) AS l
FULL JOIN (
    SELECT created_at::DATE AS day, count(*) AS found, count(*) FILTER (basis = 'inferred') AS inferred
    FROM counted_outcomes
    GROUP BY day
) AS o USING (day)
WHERE l.rows_count IS DISTINCT FROM o.found OR l.inferred_count IS DISTINCT FROM o.inferred
UNION ALL
SELECT 'interactions', project, day, l.rows_count, r.found
FROM (
    SELECT project, occurred_at::DATE AS day, count(DISTINCT interaction_id) AS found
    FROM memory_references
    WHERE coalesce(list_contains(getvariable('new_days'), occurred_at::DATE), true)
    GROUP BY project, day
) AS r
LEFT JOIN (
    SELECT project, day, sum(rows_count) AS rows_count
    FROM landed_days
    WHERE landed_table = 'interactions'
    GROUP BY project, day
) AS l USING (project, day)
WHERE coalesce(l.rows_count, 0) < r.found
