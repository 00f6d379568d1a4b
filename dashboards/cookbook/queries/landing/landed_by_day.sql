-- question: How many rows of each kind happened on each day, and how many of them were recorded late?
-- columns: landed_table – interactions, outcomes or memories (changes of them); day (UTC day) – when they happened; is_complete – it had ended before the publish's as_of;
--   rows_count (rows) – winning versions; inferred_count (rows) – of them outcomes that were inferred; late_count (rows) – of them recorded more than 24 hours after they happened
-- params: agent=%; project=%; since=1900-01-01; until=9999-12-31
-- `since` and `until` are days, both included.
-- Days without a row have none.
SELECT
    landed_table,
    day,
    day < any_value(as_of)::DATE AS is_complete,
    sum(rows_count)::BIGINT AS rows_count,
    sum(inferred_count)::BIGINT AS inferred_count,
    sum(late_count)::BIGINT AS late_count
FROM landed_days
WHERE
    day BETWEEN $since::DATE AND $until::DATE
    AND project LIKE $project ESCAPE '\'
    AND agent LIKE $agent ESCAPE '\'
GROUP BY landed_table, day
ORDER BY day DESC, list_position(['interactions', 'outcomes', 'memories'], landed_table)
