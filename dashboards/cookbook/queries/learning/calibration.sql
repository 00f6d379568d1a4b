-- question: Can the forecasts of success be believed: how good were they on what came after, beside simple ones?
-- columns: method – the forecast; metric – brier, log_loss (nats), auc, calibration...: see the comment on
--   scorecard.metric; value – over all graded weeks; value_low – lower end of its 90 % interval, days drawn again, which adds chance: an error of calibration may lie below it;
--   value_high – upper end; attempts – graded; cutoffs – weeks they come from
SELECT
    method,
    replace(metric, '_to_date', '') AS metric,
    value,
    value_low,
    value_high,
    attempts,
    cutoffs
FROM scorecard
WHERE
    ends_with(metric, '_to_date')
    AND NOT starts_with(metric, 'fades_')
    AND NOT starts_with(metric, 'untried_') AND NOT starts_with(metric, 'new_strategy_')
    AND horizon_days = (SELECT max(horizon_days) FROM scorecard WHERE metric = 'brier_to_date')
    AND cutoff_at = (SELECT max(cutoff_at) FROM scorecard WHERE metric = 'brier_to_date')
ORDER BY metric, method
