-- severity: fail
-- forgetting_quotas has one row per kind of quota, project and agent, and none without them.
SELECT quota_kind, project, agent, count(*) AS rows
FROM forgetting_quotas
GROUP BY ALL
HAVING count(*) > 1 OR quota_kind IS NULL OR project IS NULL OR agent IS NULL
