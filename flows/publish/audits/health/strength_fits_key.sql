-- severity: fail
-- strength_fits has one row per memory_type, and none without one.
SELECT memory_type, count(*) AS rows
FROM strength_fits
GROUP BY memory_type
HAVING count(*) > 1 OR memory_type IS NULL
