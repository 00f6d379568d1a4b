-- severity: fail
-- Rows of a day happened on it, were seen by the publish, and at most all of them were late, by more than 24 hours.
SELECT landed_table, project, agent, day, rows_count, late_count, late_hours_max, newest_at, newest_recorded_at
FROM landed_days
WHERE
    rows_count < 1
    OR late_count NOT BETWEEN 0 AND rows_count
    OR inferred_count NOT BETWEEN 0 AND if(landed_table = 'outcomes', rows_count, 0)
    OR (late_count > 0) <> (late_hours_max IS NOT NULL)
    OR late_hours_max <= 24
    OR newest_at::DATE <> day
    OR newest_at >= as_of
    OR newest_recorded_at >= as_of
