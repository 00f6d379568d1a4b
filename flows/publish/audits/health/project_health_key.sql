-- severity: fail
-- project_health has one row per project, and none without one.
SELECT project, count(*) AS rows
FROM project_health
GROUP BY project
HAVING count(*) > 1 OR project IS NULL
