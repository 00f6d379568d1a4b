-- severity: fail
-- First and last reference stand exactly where there are references, in order, before as_of.
SELECT memory_id, reference_count, first_referenced_at, last_referenced_at, as_of
FROM memory_health
WHERE
    (reference_count > 0) <> (first_referenced_at IS NOT NULL)
    OR (first_referenced_at IS NULL) <> (last_referenced_at IS NULL)
    OR first_referenced_at > last_referenced_at
    OR last_referenced_at >= as_of
