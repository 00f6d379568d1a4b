-- severity: fail
-- set_aside has one row per table, version and check, none without, and none of a version that the publish cannot see.
SELECT "table", row_hash, "check", count(*) AS rows
FROM set_aside
GROUP BY ALL
HAVING
    count(*) > 1 OR "table" IS NULL OR row_hash IS NULL OR "check" IS NULL
    OR max(happened_at) >= max(as_of) OR max(recorded_at) >= max(as_of)
