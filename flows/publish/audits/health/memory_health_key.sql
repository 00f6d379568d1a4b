-- severity: fail
-- memory_health has one row per memory_id, and none without one.
SELECT memory_id, count(*) AS rows
FROM memory_health
GROUP BY memory_id
HAVING count(*) > 1 OR memory_id IS NULL
