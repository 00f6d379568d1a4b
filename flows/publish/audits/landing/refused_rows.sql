-- severity: warn
-- Files of which more than one row in twenty was refused.
SELECT source, delivered, quarantined, landed_at
FROM run_files
WHERE quarantined * 20 > delivered
ORDER BY landed_at DESC, source
