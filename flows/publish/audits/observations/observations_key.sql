-- severity: fail
-- observations has one row per observation_id, and none without one.
SELECT observation_id, count(*) AS rows
FROM observations
GROUP BY observation_id
HAVING count(*) > 1 OR observation_id IS NULL
