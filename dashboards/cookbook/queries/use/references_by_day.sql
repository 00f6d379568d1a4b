-- question: How many interactions had a memory injected, and how many answers quoted or used one, day by day?
-- columns: day (UTC day) – when; is_complete – it had ended before the publish's as_of; injected_interactions (interactions) – with at least one memory injected;
--   echoing_interactions (interactions) – whose answer quotes at least one memory;
--   parroting_interactions (interactions) – of them, those whose prompt held the quoted words too;
--   using_interactions (interactions) – whose answer uses at least one in other words;
--   referencing_interactions (interactions) – whose answer quotes or uses at least one;
--   citing_interactions (interactions) – whose answer names at least one itself
-- params: agent=%; project=%; since=1900-01-01; until=9999-12-31
-- `since` and `until` are days, both included.
SELECT
    day,
    day < any_value(as_of)::DATE AS is_complete,
    sum(injected_interactions)::BIGINT AS injected_interactions,
    sum(echoing_interactions)::BIGINT AS echoing_interactions,
    sum(parroting_interactions)::BIGINT AS parroting_interactions,
    sum(using_interactions)::BIGINT AS using_interactions,
    sum(referencing_interactions)::BIGINT AS referencing_interactions,
    sum(citing_interactions)::BIGINT AS citing_interactions
FROM use_by_day
WHERE
    day BETWEEN $since::DATE AND $until::DATE
    AND project LIKE $project ESCAPE '\'
    AND agent LIKE $agent ESCAPE '\'
GROUP BY day
ORDER BY day
