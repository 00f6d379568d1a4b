-- question: What was thought of one memory, day by day: strength, counts, verdict?
-- columns: day (UTC day) – a day on which something changed; is_complete – it had ended before the
--   publish's as_of; status – state at its end; strength (0-1) – at the midnight
--   that ends it; strength_state – its band; trend – as of that midnight; use_verdict – what its use alone led to;
--   eligible_count (interactions) – so far; injected_count (interactions) – so far; reference_count (interactions) – so far;
--   used_expected (interactions) – expected to use it in other words so far, found or not
-- params: memory_id; since=1900-01-01; until=9999-12-31
-- `since` and `until` are days, both included.
SELECT day, day < as_of::DATE AS is_complete, status, strength, strength_state, trend, use_verdict, eligible_count, injected_count, reference_count, used_expected
FROM memory_health_history
WHERE memory_id = $memory_id AND day BETWEEN $since::DATE AND $until::DATE
ORDER BY day
