-- severity: fail
-- error_templates has one row per project and error_id, and none without.
SELECT project, error_id, count(*) AS rows
FROM error_templates
GROUP BY ALL
HAVING count(*) > 1 OR project IS NULL OR error_id IS NULL
