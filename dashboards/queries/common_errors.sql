-- question: Which error messages come up most, digits aside?
-- columns: error – the message with every run of digits as 0; failures (outcomes) – failed with it;
--   sessions (sessions) – distinct sessions among them; strategies – tried in them; last_at (UTC) – the last of them
-- params: limit=20
SELECT
    regexp_replace(error_message, '\d+', '0', 'g') AS error,
    count(*) AS failures,
    count(DISTINCT session_id) AS sessions,
    list(DISTINCT strategy ORDER BY strategy) FILTER (strategy IS NOT NULL) AS strategies,
    max(created_at) AS last_at
FROM outcomes
WHERE NOT success AND error_message IS NOT NULL
GROUP BY error
ORDER BY failures DESC, error
LIMIT $limit::BIGINT
