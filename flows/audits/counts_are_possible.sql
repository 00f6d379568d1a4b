-- severity: fail
-- No count is negative, and nothing is echoed more often than it was eligible.
SELECT memory_id, eligible_count, injected_count, echoed_count, reference_count
FROM memory_health
WHERE
    least(eligible_count, injected_count, echoed_count, reference_count) < 0
    OR echoed_count > eligible_count
    OR reference_count < echoed_count
