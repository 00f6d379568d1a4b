-- question: What did the last runs do?
-- columns: run_id – the run; kind – what ran; status – how it ended; as_of (UTC) – its publish shows what was known
--   before; seconds (seconds) – it took; accepted (rows) – landed by it; quarantined (rows) – refused by it;
--   days_built_count (days) – rebuilt by it; message – why it was skipped or failed, or what an audit warned of
-- params: limit=20
SELECT
    run_id,
    kind,
    status,
    as_of,
    round(epoch(finished_at - started_at), 1) AS seconds,
    accepted,
    quarantined,
    days_built_count,
    message
FROM runs
ORDER BY run_id DESC
LIMIT $limit::BIGINT
