-- severity: fail
-- review_statements has one row per item_id and interaction_id, and none without one.
SELECT item_id, interaction_id, count(*) AS rows
FROM review_statements
GROUP BY item_id, interaction_id
HAVING count(*) > 1 OR item_id IS NULL OR interaction_id IS NULL
