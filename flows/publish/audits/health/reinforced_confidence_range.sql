-- severity: fail
-- Reinforced confidence lies between 0 and 1.
SELECT memory_id, reinforced_confidence
FROM memory_health
WHERE reinforced_confidence NOT BETWEEN 0 AND 1 OR isnan(reinforced_confidence)
