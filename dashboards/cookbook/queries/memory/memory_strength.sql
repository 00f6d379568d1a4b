-- question: How strong was one memory, how strong is it, and how strong will it be if nothing refers to it?
-- columns: at (UTC) – a midnight, or the publish itself; strength (0-1) – how much of its evidence is left; kind – measured,
--   with the half-lives of this publish, or forecast
-- params: memory_id
-- Measured at the midnights after days on which its counts or state changed; forecast 7, 30, 90, 180 and 365 days ahead.
SELECT *
FROM (
    SELECT day + INTERVAL 1 DAY AS "at", h.strength, 'measured' AS kind
    FROM memory_health_history AS h
    JOIN memory_health AS m USING (memory_id)
    WHERE memory_id = $memory_id AND h.strength IS NOT NULL AND day + INTERVAL 1 DAY < m.as_of
    UNION ALL
    SELECT as_of, strength, 'measured'
    FROM memory_health
    WHERE memory_id = $memory_id AND strength IS NOT NULL
    UNION ALL
    SELECT as_of + to_days(unnest([7, 30, 90, 180, 365])), unnest(strength_forecast), 'forecast'
    FROM memory_health
    WHERE memory_id = $memory_id AND strength IS NOT NULL
)
ORDER BY "at"
