-- question: Which agents have interactions or outcomes, how many interactions, and since when?
-- columns: agent – the agent, '' is not said; interactions (interactions) – of it; first_day (UTC day) – of the first row;
--   last_day (UTC day) – of the newest one
-- params: project=%
SELECT
    agent,
    coalesce(sum(rows_count) FILTER (landed_table = 'interactions'), 0)::BIGINT AS interactions,
    min(day) AS first_day,
    max(day) AS last_day
FROM landed_days
WHERE landed_table IN ('interactions', 'outcomes') AND project LIKE $project ESCAPE '\'
GROUP BY agent
ORDER BY interactions DESC, agent
