-- question: Did memories fade when they were said to, or were they referenced before?
-- columns: cutoff_at (UTC) – the Monday it was recomputed as of; memories_count (memories) – said then to fade within
--   30 days; faded_as_said (0-1) – of them not referenced until then; faded_low (0-1) – lower end of its 90 % interval;
--   faded_high (0-1) – upper end; base_rate (0-1) – what that share would be of memories drawn at random
-- Mondays at which no memory was said to fade are left out.
SELECT
    cutoff_at,
    max(attempts) AS memories_count,
    max(value) FILTER (method <> 'base_rate/1') AS faded_as_said,
    max(value_low) FILTER (method <> 'base_rate/1') AS faded_low,
    max(value_high) FILTER (method <> 'base_rate/1') AS faded_high,
    max(value) FILTER (method = 'base_rate/1') AS base_rate
FROM scorecard
WHERE metric = 'fades_as_said' AND attempts > 0
GROUP BY cutoff_at
ORDER BY cutoff_at DESC
