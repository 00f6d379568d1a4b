-- severity: fail
-- strategy_variants has one row per project and strategy, and none without.
SELECT project, strategy, count(*) AS rows
FROM strategy_variants
GROUP BY ALL
HAVING count(*) > 1 OR project IS NULL OR strategy IS NULL
