-- question: Which agents have interactions, how many, and since when?
-- columns: agent – the agent, '' is not said; interactions (interactions) – of it; first_day (UTC day) – of the first one;
--   last_day (UTC day) – of the newest one
-- params: project=%
SELECT agent, sum(rows_count)::BIGINT AS interactions, min(day) AS first_day, max(day) AS last_day
FROM landed_days
WHERE landed_table = 'interactions' AND project LIKE $project ESCAPE '\'
GROUP BY agent
ORDER BY interactions DESC, agent
