-- severity: fail
-- No count is negative, nothing is echoed, used or expected to be used more often than it was eligible, and a memory is
-- called used where a reference was found.
SELECT memory_id, eligible_count, injected_count, echoed_count, used_count, cited_count, reference_count, used_expected, use_state
FROM memory_health
WHERE
    least(eligible_count, injected_count, echoed_count, used_count, cited_count) < 0
    OR reference_count > eligible_count
    OR used_expected NOT BETWEEN used_expected_low AND least(used_expected_high, eligible_count)
    OR injected_use_expected NOT BETWEEN 0 AND least(used_expected, injected_count)
    OR used_expected_low < 0
    OR (use_state = 'used') IS DISTINCT FROM (reference_count > 0)
    OR (use_state = 'not_used' AND (detectability IS NULL OR injected_count = 0))
    OR reference_count NOT BETWEEN greatest(echoed_count, used_count) AND echoed_count + used_count
