-- severity: fail
-- Of every file: rows delivered = accepted + duplicate + quarantined.
SELECT run_id, file_number, source, delivered, accepted, duplicate, quarantined
FROM run_files
WHERE delivered <> accepted + duplicate + quarantined
