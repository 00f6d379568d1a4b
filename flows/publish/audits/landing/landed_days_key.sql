-- severity: fail
-- landed_days has one row per landed table, project and day, and none without one.
SELECT landed_table, project, day, count(*) AS rows
FROM landed_days
GROUP BY landed_table, project, day
HAVING count(*) > 1 OR landed_table IS NULL OR project IS NULL OR day IS NULL
