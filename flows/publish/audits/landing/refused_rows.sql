-- severity: warn
-- Files of which more than one row in twenty was refused, and still is after all tries: see `quarantine`.
SELECT
    arg_max(source, landed_at) AS source,
    sum(delivered)::BIGINT AS delivered,
    sum(quarantined)::BIGINT AS quarantined,
    max(landed_at) AS landed_at
FROM run_files
WHERE retried IS NOT NULL OR accepted + quarantined <> 0
GROUP BY file_hash
HAVING sum(quarantined) * 20 > sum(delivered)
ORDER BY max(landed_at) DESC, source
