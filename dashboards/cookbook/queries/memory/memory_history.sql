-- question: How did one memory's counts and state come about, day by day?
-- columns: day (UTC day) – a day on which something changed; status – state at its end;
--   eligible (interactions) – new that day; injected (interactions) – new that day;
--   referenced (interactions) – new that day; cited (interactions) – new that day; reference_count (interactions) – up to the end of the day;
--   reinforced_confidence (0-1) – at the end of the day
-- params: memory_id; since=1900-01-01; until=9999-12-31
-- `since` and `until` are days, both included.
SELECT
    day,
    status,
    eligible_count - lag(eligible_count, 1, 0) OVER days AS eligible,
    injected_count - lag(injected_count, 1, 0) OVER days AS injected,
    reference_count - lag(reference_count, 1, 0) OVER days AS referenced,
    cited_count - lag(cited_count, 1, 0) OVER days AS cited,
    reference_count,
    reinforced_confidence
FROM memory_health_history
WHERE memory_id = $memory_id
WINDOW days AS (ORDER BY day)
QUALIFY day BETWEEN $since::DATE AND $until::DATE
ORDER BY day
