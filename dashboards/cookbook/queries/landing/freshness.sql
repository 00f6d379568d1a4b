-- question: How recent is the newest row of each kind and project, as of the publish?
-- columns: landed_table – kind of row; project – its project, '' is none or not said; rows (rows) – winning versions;
--   newest_at (UTC) – when the newest of them happened; newest_recorded_at (UTC) – when the last of them was recorded
-- params: project=%
SELECT
    landed_table,
    project,
    sum(rows_count)::BIGINT AS rows,
    max(newest_at) AS newest_at,
    max(newest_recorded_at) AS newest_recorded_at
FROM landed_days
WHERE project LIKE $project ESCAPE '\'
GROUP BY landed_table, project
ORDER BY landed_table, newest_at DESC, project
