-- question: Did the forecasts get better or worse from week to week?
-- columns: cutoff_at (UTC) – Monday the forecasts were made on; method – the forecast; brier – mean squared error, lower
--   is better; log_loss (nats) – lower is better; auc (0-1) – how often a success was forecast higher than a failure;
--   attempts – graded, of the seven days after
SELECT
    cutoff_at,
    method,
    max(value) FILTER (metric = 'brier') AS brier,
    max(value) FILTER (metric = 'log_loss') AS log_loss,
    max(value) FILTER (metric = 'auc') AS auc,
    max(attempts) FILTER (metric = 'brier') AS attempts
FROM scorecard
WHERE metric IN ('brier', 'log_loss', 'auc')
GROUP BY cutoff_at, method
ORDER BY cutoff_at DESC, method
