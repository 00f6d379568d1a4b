-- question: Of which users are there memories or outcomes?
-- columns: user – the user; memories (memories) – of the user alone; outcomes (outcomes) – of the user
SELECT user_id AS "user", sum(memories)::BIGINT AS memories, sum(outcomes)::BIGINT AS outcomes
FROM (
    SELECT user_id, count(*) AS memories, 0 AS outcomes FROM memory_health WHERE user_id <> '' GROUP BY user_id
    UNION ALL
    SELECT user_id, 0, count(*) FROM counted_outcomes WHERE user_id <> '' GROUP BY user_id
)
GROUP BY user_id
ORDER BY memories DESC, outcomes DESC, user_id
