-- question: How many interactions were given a memory, and how many answers referred to one, day by day?
-- columns: day (UTC day) – when; injected_interactions (interactions) – given at least one memory;
--   echoing_interactions (interactions) – whose answer repeats at least one memory;
--   parroting_interactions (interactions) – of them, those whose prompt held the same words of some memory;
--   using_interactions (interactions) – whose answer relies on at least one in whatever words;
--   citing_interactions (interactions) – whose answer names at least one itself;
--   referenced_memories (memories) – distinct memories repeated or relied on
-- params: project=%
SELECT
    occurred_at::DATE AS day,
    count(DISTINCT interaction_id) FILTER (is_injected) AS injected_interactions,
    count(DISTINCT interaction_id) FILTER (is_echoed) AS echoing_interactions,
    count(DISTINCT interaction_id) FILTER (in_prompt) AS parroting_interactions,
    count(DISTINCT interaction_id) FILTER (is_used) AS using_interactions,
    count(DISTINCT interaction_id) FILTER (is_cited) AS citing_interactions,
    count(DISTINCT memory_id) FILTER (is_echoed OR is_used) AS referenced_memories
FROM memory_references
WHERE coalesce(project, '') LIKE $project ESCAPE '\'
GROUP BY day
ORDER BY day
