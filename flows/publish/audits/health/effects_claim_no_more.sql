-- severity: fail
-- An effect is claimed only where chance decided, and lies within its interval; what is not known is NULL throughout.
SELECT scope, scope_id, comparison, claim, basis
FROM effects
WHERE
    (claim IN ('helps', 'harms') AND basis <> 'randomised')
    OR (claim = 'helps' AND own_estimate <= 0)
    OR (claim = 'harms' AND own_estimate >= 0)
    OR (claim = 'associated') <> (basis = 'within task')
    OR (estimate IS NULL) <> (basis = 'none')
    OR (estimate IS NULL AND (low IS NOT NULL OR high IS NOT NULL OR claim <> 'cannot be told'))
    OR NOT (-1 <= low AND low <= least(estimate, own_estimate) AND greatest(estimate, own_estimate) <= high AND high <= 1)
    OR e_value < 0
    OR (e_value IS NULL) <> (basis <> 'randomised')
    OR detectable NOT BETWEEN 0 AND 1
    OR least(with_count, without_count, least_sessions) < 0
UNION ALL
SELECT 'all', '', 'both comparisons', '', ''
FROM effects
HAVING count(*) FILTER (scope = 'all') <> 2 AND EXISTS (FROM memory_health)
