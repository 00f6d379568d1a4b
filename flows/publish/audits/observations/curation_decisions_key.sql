-- severity: fail
-- curation_decisions has one row per memory_id and changed_at, and none without them.
SELECT memory_id, changed_at, count(*) AS rows
FROM curation_decisions
GROUP BY memory_id, changed_at
HAVING count(*) > 1 OR memory_id IS NULL OR changed_at IS NULL
