-- question: What became of the files landed last?
-- columns: landed_at (UTC) – when; source – its path as given; delivered (rows) – in it; accepted (rows) – new;
--   duplicate (rows) – in the lake already; quarantined (rows) – refused with a reason
-- params: limit=50
SELECT
    landed_at,
    source,
    delivered,
    accepted,
    duplicate,
    quarantined
FROM run_files
ORDER BY landed_at DESC, run_id DESC, file_number DESC
LIMIT $limit::BIGINT
