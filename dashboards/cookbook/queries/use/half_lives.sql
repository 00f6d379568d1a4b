-- question: How fast does each type of memory fade here, and what was that fitted on?
-- columns: memory_type – the type; half_life_days (days) – the middle one of three; default_half_life_days (days) – where the
--   log has too little; reach_days (days) – fades_at is forecast so far from the last evidence: 30 days more than the log
--   ever watched one without a reference; windows – of 30 days; forecasts – memories forecast in them; references – of them referenced;
--   gain (nats per forecast) – better than the default by so much
SELECT
    memory_type,
    half_life_days,
    default_half_life_days,
    reach_days,
    windows,
    forecasts,
    "references",
    default_log_loss - log_loss AS gain
FROM strength_fits
ORDER BY forecasts DESC, memory_type
