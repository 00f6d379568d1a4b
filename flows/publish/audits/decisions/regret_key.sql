-- severity: fail
-- regret has one row per basis and rule, and none without them.
SELECT basis, rule, count(*) AS rows
FROM regret
GROUP BY ALL
HAVING count(*) > 1 OR basis IS NULL OR rule IS NULL
