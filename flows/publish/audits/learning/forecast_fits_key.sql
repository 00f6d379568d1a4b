-- severity: fail
-- forecast_fits has one row per project, and none without.
SELECT project, count(*) AS rows
FROM forecast_fits
GROUP BY ALL
HAVING count(*) > 1 OR project IS NULL
