-- question: What did attempts report, by task type and strategy as written?
-- columns: task_type – kind of task; strategy – what was tried, as the producer wrote it;
--   attempts (outcomes) – reported, without those said not to be attempts;
--   successes (outcomes) – of them reported as successes; success_share (0-1) – their share, which is no estimate
--   of the next attempt; not_said (outcomes) – of the attempts, those not said to be attempts either;
--   last_at (UTC) – the last attempt
-- params: at_least=1
SELECT
    task_type,
    strategy,
    count(*) AS attempts,
    count(*) FILTER (success) AS successes,
    successes / attempts AS success_share,
    count(*) FILTER (attempted IS NULL) AS not_said,
    max(created_at) AS last_at
FROM outcomes
WHERE attempted IS DISTINCT FROM false AND strategy IS NOT NULL
GROUP BY task_type, strategy
HAVING attempts >= $at_least::BIGINT
ORDER BY task_type, attempts DESC, strategy
