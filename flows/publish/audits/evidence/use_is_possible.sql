-- severity: fail
-- Strength, need and shares are probabilities or unknown, a strength has its state, and every verdict has a reason.
SELECT 'memory_health' AS table_name, memory_id AS id
FROM memory_health
WHERE
    strength NOT BETWEEN 0 AND 1 OR need_30d NOT BETWEEN 0 AND 1 OR need_if_active NOT BETWEEN 0 AND 1
    OR half_life_days <= 0
    OR (strength IS NULL) <> (strength_state IS NULL)
    OR NOT review_value >= 0 OR isnan(review_value)
    OR coalesce(len(reasons), 0) = 0
    OR (verdict = 'inactive' AND coalesce(status IN ('active', 'candidate'), true))
UNION ALL
SELECT 'memory_health_history', memory_id
FROM memory_health_history
WHERE strength NOT BETWEEN 0 AND 1 OR (strength IS NULL) <> (strength_state IS NULL)
UNION ALL
SELECT 'strength_fits', memory_type
FROM strength_fits
WHERE NOT (half_life_days > 0 AND "references" <= forecasts) OR reach_days <= 0
