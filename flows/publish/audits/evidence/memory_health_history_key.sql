-- severity: fail
-- memory_health_history has one row per memory and day.
SELECT memory_id, day, count(*) AS rows
FROM memory_health_history
GROUP BY memory_id, day
HAVING count(*) > 1
