-- question: How good was the confidence for the next day, for seven days, and of strategies not tried before?
-- columns: graded – published (it was tried before), not tried here (its forecast comes from its relatives) or new to
--   the project (nobody had tried the strategy: task_difficulty, what the kind of task alone says, is graded, too);
--   horizon_days (days) – days after the cutoff that are graded; method – the forecast; brier – mean squared error;
--   brier_minus_this – ours minus this one's, below 0 ours is better (new to the project: task_difficulty's minus this
--   one's); difference_low – lower end of its 90 % interval, days drawn again; difference_high – upper end;
--   log_loss (nats) – mean log loss; interval_coverage (0-1) – share of strategies whose successes lay in the interval, .9 would be right; attempts – graded; cutoffs – Mondays
WITH grades AS (
    SELECT
        CASE
            WHEN starts_with(metric, 'untried_') THEN 'not tried here'
            WHEN starts_with(metric, 'new_strategy_') THEN 'new to the project'
            ELSE 'published'
        END AS graded,
        regexp_replace(metric, '^(untried|new_strategy)_|_to_date$', '', 'g') AS metric,
        horizon_days,
        method,
        value,
        value_low,
        value_high,
        attempts,
        cutoffs
    FROM scorecard
    WHERE
        ends_with(metric, '_to_date')
        AND NOT starts_with(metric, 'fades_')
        AND cutoff_at = (SELECT max(cutoff_at) FROM scorecard WHERE metric = 'brier_to_date')
)
SELECT
    g.graded,
    g.horizon_days,
    g.method,
    max(g.value) FILTER (g.metric = 'brier') AS brier,
    max(d.value) AS brier_minus_this,
    max(d.value_low) AS difference_low,
    max(d.value_high) AS difference_high,
    max(g.value) FILTER (g.metric = 'log_loss') AS log_loss,
    max(g.value) FILTER (g.metric = 'interval_coverage') AS interval_coverage,
    max(g.attempts) FILTER (g.metric = 'brier') AS attempts,
    max(g.cutoffs) FILTER (g.metric = 'brier') AS cutoffs
FROM grades AS g
LEFT JOIN grades AS d
    ON
        d.graded = g.graded AND d.horizon_days = g.horizon_days
        AND d.metric = 'brier_minus_' || split_part(g.method, '/', 1)
GROUP BY g.graded, g.horizon_days, g.method
ORDER BY g.graded DESC, g.horizon_days, brier, g.method
