-- severity: fail
-- review_decisions has one row per decision_id, and none without one.
SELECT decision_id, count(*) AS rows
FROM review_decisions
GROUP BY decision_id
HAVING count(*) > 1 OR decision_id IS NULL
