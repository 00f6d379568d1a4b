-- severity: fail
-- chunk_use has one row per project and chunk, and none without.
SELECT project, chunk_id, count(*) AS rows
FROM chunk_use
GROUP BY ALL
HAVING count(*) > 1 OR project IS NULL OR chunk_id IS NULL
