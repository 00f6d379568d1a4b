-- severity: fail
-- memory_references has one row per memory and interaction.
SELECT memory_id, interaction_id, count(*) AS rows
FROM memory_references
GROUP BY memory_id, interaction_id
HAVING count(*) > 1
