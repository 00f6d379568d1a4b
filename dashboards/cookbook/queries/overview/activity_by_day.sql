-- question: How many interactions, injections, uses and attempts were there, and what did they cost, day by day?
-- columns: day (UTC day) – when; is_complete – it had ended before the publish's as_of; interactions (interactions) – asked on it; injected (interactions) – with at least one
--   memory in the prompt; used (interactions) – whose answer quotes or uses a memory, a minimum;
--   injected_tokens (tokens) – of the memories in all prompts, a quarter of their characters; tokens (tokens) – that
--   interactions state; cost (the owner's currency) – that they state; attempts (attempts) – real attempts that ended on
--   it; successes (attempts) – of them
-- params: agent=%; project=%; since=1900-01-01; until=9999-12-31
-- `since` and `until` are days, both included.
WITH
given AS (
    SELECT
        r.interaction_id, r.occurred_at::DATE AS day, r.is_injected, r.is_echoed OR r.is_used AS is_used, r.memory_id
    FROM memory_references AS r
    WHERE
        r.occurred_at >= $since::DATE AND r.occurred_at < $until::DATE::TIMESTAMP + INTERVAL 1 DAY
        AND r.project LIKE $project ESCAPE '\'
        AND coalesce(r.agent, '') LIKE $agent ESCAPE '\'
),
prompts AS (
    SELECT day, count(*) FILTER (is_injected) AS injected, count(*) FILTER (is_used) AS used
    FROM (
        SELECT day, interaction_id, bool_or(is_injected) AS is_injected, bool_or(is_used) AS is_used
        FROM given
        GROUP BY ALL
    )
    GROUP BY day
),
sizes AS (
    SELECT day, sum(ceil(length(h.content) / 4))::BIGINT AS injected_tokens
    FROM given
    JOIN memory_health AS h USING (memory_id)
    WHERE is_injected
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
    tokens,
    cost,
    coalesce(attempts, 0) AS attempts,
    coalesce(successes, 0) AS successes
FROM landed
FULL JOIN ended USING (day)
LEFT JOIN prompts USING (day)
LEFT JOIN sizes USING (day)
ORDER BY day
