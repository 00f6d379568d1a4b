-- question: How recent is the newest row of each kind and project?
-- columns: landed_table – kind of row; project – its project, NULL is not said; rows (rows) – winning versions;
--   newest_at (UTC) – when the newest of them happened; newest_recorded_at (UTC) – when the last of them was recorded
SELECT
    landed_table,
    project,
    count(*) AS rows,
    max(occurred_at) AS newest_at,
    max(recorded_at) AS newest_recorded_at
FROM (
    SELECT 'interactions' AS landed_table, project, created_at AS occurred_at, recorded_at FROM interactions
    UNION ALL
    SELECT 'outcomes', project, created_at, recorded_at FROM outcomes
    UNION ALL
    SELECT 'memories', project, changed_at, recorded_at FROM memories
)
GROUP BY landed_table, project
ORDER BY landed_table, newest_at DESC, project
