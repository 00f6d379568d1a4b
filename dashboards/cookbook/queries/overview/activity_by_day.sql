-- question: How many interactions, injections, uses and attempts were there, and what did they cost, day by day?
-- columns: day (UTC day) – when; is_complete – it had ended before the publish's as_of; interactions (interactions) – asked on it; injected (interactions) – with at least one
--   memory in the prompt; used (interactions) – whose answer quotes or uses a memory, a minimum;
--   injected_tokens (tokens) – of the memories in all prompts, a quarter of their characters; unused_tokens (tokens) – of
--   them in memories that are not used; tokens (tokens) – that
--   interactions state; cost (the owner's currency) – that they state; attempts (attempts) – real attempts that ended on
--   it; successes (attempts) – of them
-- params: agent=%; project=%; since=1900-01-01; until=9999-12-31
-- `since` and `until` are days, both included.
WITH
had AS (
    SELECT
        day,
        sum(injected_interactions)::BIGINT AS injected,
        sum(referencing_interactions)::BIGINT AS used,
        sum(injected_tokens)::BIGINT AS injected_tokens,
        sum(unused_tokens)::BIGINT AS unused_tokens
    FROM use_by_day
    WHERE
        day BETWEEN $since::DATE AND $until::DATE
        AND project LIKE $project ESCAPE '\'
        AND agent LIKE $agent ESCAPE '\'
    GROUP BY day
),
landed AS (
    SELECT day, any_value(as_of) AS as_of, sum(rows_count)::BIGINT AS interactions, sum(stated_tokens)::BIGINT AS tokens, sum(stated_cost) AS cost
    FROM landed_days
    WHERE
        landed_table = 'interactions' AND day BETWEEN $since::DATE AND $until::DATE
        AND project LIKE $project ESCAPE '\'
        AND agent LIKE $agent ESCAPE '\'
    GROUP BY day
),
ended AS (
    SELECT created_at::DATE AS day, any_value(as_of) AS as_of, count(*) AS attempts, count(*) FILTER (success) AS successes
    FROM counted_outcomes
    WHERE
        is_counted
        AND created_at >= $since::DATE AND created_at < $until::DATE::TIMESTAMP + INTERVAL 1 DAY
        AND project LIKE $project ESCAPE '\'
        AND agent LIKE $agent ESCAPE '\'
    GROUP BY day
)
SELECT
    day,
    day < coalesce(landed.as_of, ended.as_of)::DATE AS is_complete,
    coalesce(interactions, 0) AS interactions,
    coalesce(injected, 0) AS injected,
    coalesce(used, 0) AS used,
    coalesce(injected_tokens, 0) AS injected_tokens,
    coalesce(unused_tokens, 0) AS unused_tokens,
    tokens,
    cost,
    coalesce(attempts, 0) AS attempts,
    coalesce(successes, 0) AS successes
FROM landed
FULL JOIN ended USING (day)
LEFT JOIN had USING (day)
ORDER BY day
