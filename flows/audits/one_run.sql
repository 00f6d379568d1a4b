-- severity: fail
-- All rows of a publish carry one run_id and one as_of.
SELECT run_id, as_of
FROM (
    SELECT run_id, as_of FROM memory_health
    UNION
    SELECT run_id, as_of FROM memory_health_history
    UNION
    SELECT run_id, as_of FROM memory_references
)
QUALIFY count(*) OVER () > 1
