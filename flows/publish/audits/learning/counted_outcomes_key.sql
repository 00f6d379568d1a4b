-- severity: fail
-- counted_outcomes has one row per outcome_id, and none without.
SELECT outcome_id, count(*) AS rows
FROM counted_outcomes
GROUP BY ALL
HAVING count(*) > 1 OR outcome_id IS NULL
