-- severity: fail
-- scorecard has one row per method, metric, cutoff_at and horizon_days, and none without.
SELECT method, metric, cutoff_at, horizon_days, count(*) AS rows
FROM scorecard
GROUP BY ALL
HAVING count(*) > 1 OR method IS NULL OR metric IS NULL OR cutoff_at IS NULL OR horizon_days IS NULL
