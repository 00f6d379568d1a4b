-- question: Can need_30d be believed: how good was it on what came after, beside the base rate?
-- columns: cutoff_at (UTC) – the Monday it was recomputed as of; memories_count (memories) – forecast then, active now;
--   log_loss (nats) – of need_30d, lower is better; base_log_loss (nats) – of the share that was needed before;
--   skill (0-1) – how much lower than the base rate's its log loss is, as a share of that, below 0: worse;
--   skill_low (0-1) – lower end of its 90 % interval; skill_high (0-1) – upper end; calibration_error (0-1) – mean distance of forecast and what came;
--   calibration_error_if_perfect (0-1) – that of a perfect forecaster on as many memories
-- Whether memories faded as `fades_at` said stands in scorecard as `fades_as_said`.
SELECT
    cutoff_at,
    max(attempts) AS memories_count,
    max(value) FILTER (metric = 'need_log_loss' AND method <> 'base_rate/1') AS log_loss,
    max(value) FILTER (metric = 'need_log_loss' AND method = 'base_rate/1') AS base_log_loss,
    max(value) FILTER (metric = 'need_skill') AS skill,
    max(value_low) FILTER (metric = 'need_skill') AS skill_low,
    max(value_high) FILTER (metric = 'need_skill') AS skill_high,
    max(value) FILTER (metric = 'need_calibration_error' AND method <> 'base_rate/1') AS calibration_error,
    max(value) FILTER (metric = 'need_calibration_error_if_perfect' AND method <> 'base_rate/1')
        AS calibration_error_if_perfect
FROM scorecard
WHERE starts_with(metric, 'need_')
GROUP BY cutoff_at
ORDER BY cutoff_at DESC
