-- severity: fail
-- review_queue has one row per item_id, and none without one.
SELECT item_id, count(*) AS rows
FROM review_queue
GROUP BY item_id
HAVING count(*) > 1 OR item_id IS NULL
