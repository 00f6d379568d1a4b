-- severity: fail
-- No count is negative, and nothing is echoed or used more often than it was eligible.
SELECT memory_id, eligible_count, injected_count, echoed_count, used_count, cited_count, reference_count
FROM memory_health
WHERE
    least(eligible_count, injected_count, echoed_count, used_count, cited_count) < 0
    OR reference_count > eligible_count
    OR reference_count NOT BETWEEN greatest(echoed_count, used_count) AND echoed_count + used_count
