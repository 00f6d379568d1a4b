-- question: Which rows were recorded more than a day after they happened?
-- columns: landed_table – kind of row; project – its project, '' is none or not said; day (UTC day) – when they happened;
--   late_rows (rows) – recorded more than 24 hours afterwards; worst_hours (hours) – the latest of them
-- params: project=%
-- By what producers say in recorded_at; a row that does not say is not known to be late.
SELECT
    landed_table,
    project,
    day,
    sum(late_count)::BIGINT AS late_rows,
    round(max(late_hours_max), 1) AS worst_hours
FROM landed_days
WHERE late_count > 0 AND project LIKE $project ESCAPE '\'
GROUP BY ALL
ORDER BY day DESC, landed_table, project
