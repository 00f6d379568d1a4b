-- question: How many interactions had a memory injected, and how many answers quoted or used one, day by day?
-- columns: day (UTC day) – when; is_complete – it had ended before the publish's as_of; injected_interactions (interactions) – with at least one memory injected;
--   echoing_interactions (interactions) – whose answer quotes at least one memory;
--   parroting_interactions (interactions) – of them, those whose prompt held the quoted words too;
--   using_interactions (interactions) – whose answer uses at least one in other words;
--   referencing_interactions (interactions) – whose answer quotes or uses at least one;
--   citing_interactions (interactions) – whose answer names at least one itself;
--   referenced_memories (memories) – distinct memories quoted or used
-- params: agent=%; project=%; since=1900-01-01; until=9999-12-31
-- `since` and `until` are days, both included.
WITH shown AS (
    SELECT occurred_at::DATE AS day, as_of::DATE AS as_of, interaction_id, memory_id, is_injected, is_echoed, in_prompt, is_used, is_cited
    FROM memory_references
    WHERE
        occurred_at >= $since::DATE AND occurred_at < $until::DATE::TIMESTAMP + INTERVAL 1 DAY
        AND coalesce(project, '') LIKE $project ESCAPE '\'
        AND coalesce(agent, '') LIKE $agent ESCAPE '\'
),
-- in two steps: to count distinct ones takes three times as long
interactions AS (
    SELECT
        day,
        any_value(as_of) AS as_of,
        bool_or(is_injected) AS is_injected,
        bool_or(is_echoed) AS is_echoed,
        bool_or(in_prompt) AS in_prompt,
        bool_or(is_used) AS is_used,
        bool_or(is_cited) AS is_cited
    FROM shown
    GROUP BY day, interaction_id
),
memories AS (
    SELECT day, count(DISTINCT memory_id) AS referenced_memories
    FROM shown
    WHERE is_echoed OR is_used
    GROUP BY day
)
SELECT
    day,
    day < any_value(as_of) AS is_complete,
    count(*) FILTER (is_injected) AS injected_interactions,
    count(*) FILTER (is_echoed) AS echoing_interactions,
    count(*) FILTER (in_prompt) AS parroting_interactions,
    count(*) FILTER (is_used) AS using_interactions,
    count(*) FILTER (is_echoed OR is_used) AS referencing_interactions,
    count(*) FILTER (is_cited) AS citing_interactions,
    coalesce(any_value(referenced_memories), 0) AS referenced_memories
FROM interactions
LEFT JOIN memories USING (day)
GROUP BY day
ORDER BY day
