-- question: Which rows were recorded long after they happened?
-- columns: landed_table – kind of row; project – its project; day (UTC day) – when they happened;
--   late_rows (rows) – recorded later than the given hours afterwards; worst_hours (hours) – the latest of them
-- params: hours=24
-- By what producers say in recorded_at; a row that does not say is not known to be late.
SELECT
    landed_table,
    project,
    occurred_at::DATE AS day,
    count(*) AS late_rows,
    round(max(epoch(recorded_at - occurred_at)) / 3600, 1) AS worst_hours
FROM (
    SELECT 'interactions' AS landed_table, project, created_at AS occurred_at, recorded_at FROM interactions
    UNION ALL
    SELECT 'outcomes', project, created_at, recorded_at FROM outcomes
    UNION ALL
    SELECT 'memories', project, changed_at, recorded_at FROM memories
)
WHERE epoch(recorded_at - occurred_at) > $hours::DOUBLE * 3600
GROUP BY landed_table, project, day
ORDER BY day DESC, landed_table, project
