-- severity: fail
-- need_fits has one row per scope, and none without one.
SELECT scope, count(*) AS rows
FROM need_fits
GROUP BY scope
HAVING count(*) > 1 OR scope IS NULL
