-- severity: fail
-- An estimate lies within its interval, the interval within its bounds, and no share is outside 0 to 1.
SELECT 'heuristics' AS table_name, strategy_id AS id
FROM heuristics
WHERE
    NOT (0 <= confidence_low AND confidence_low <= confidence AND confidence <= confidence_high AND confidence_high <= 1)
    OR NOT (0 <= successes AND successes <= attempts AND 1 <= attempts AND 1 <= sessions AND sessions <= attempts)
UNION ALL
SELECT 'untried_strategies', strategy_id
FROM untried_strategies
WHERE
    NOT (0 <= confidence_low AND confidence_low <= confidence AND confidence <= confidence_high AND confidence_high <= 1)
    OR elsewhere_attempts + twin_attempts < 1 OR elsewhere_attempts < 0 OR here_attempts < 1
    OR NOT (0 <= elsewhere_successes AND elsewhere_successes <= elsewhere_attempts)
    OR NOT (0 <= twin_successes AND twin_successes <= twin_attempts)
UNION ALL
SELECT 'task_difficulty', task_type
FROM task_difficulty
WHERE
    NOT (0 <= estimate_low AND estimate_low <= estimate AND estimate <= estimate_high AND estimate_high <= 1)
    OR NOT (0 <= successes AND successes <= attempts AND 1 <= sessions AND sessions <= attempts)
UNION ALL
SELECT 'anti_patterns', strategy_id
FROM anti_patterns
WHERE
    NOT (1 <= failures AND failures <= attempts AND error_failures <= failures AND error_family_failures <= failures AND sessions <= attempts)
    OR e_value < 0 OR q_value NOT BETWEEN 0 AND 1 OR baseline_rate NOT BETWEEN 0 AND 1
UNION ALL
SELECT 'memory_health', memory_id
FROM memory_health
WHERE
    NOT (0 <= confidence_low AND confidence_low <= confidence AND confidence <= confidence_high AND confidence_high <= 1)
    OR NOT (-1 <= lift_low AND lift_low <= lift AND lift <= lift_high AND lift_high <= 1)
    OR (lift IS NULL) <> (lift_basis IS NULL)
    OR (is_harmful AND lift_basis NOT IN ('randomised', 'cutoff'))
