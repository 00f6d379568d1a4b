-- question: Which strategies got worse in the last days, and which better?
-- columns: trend – weakening or strengthening; project – the project; agent – the agent; task_type – kind of task;
--   strategy – its shown wording; success_rate (0-1) – over its whole history; confidence (0-1) – estimated success of
--   the next comparable attempt, recent attempts counting more; confidence_low (0-1) – lower end of its 90 % credible
--   interval; confidence_high (0-1) – upper end; sessions – sessions it was tried in; last_validated_at (UTC) – last try; strategy_id – its id
-- params: agent=%; project=%; since=1900-01-01; task_type=%; until=9999-12-31
-- Those whose last try is of the days `since` to `until`, both included.
SELECT
    trend,
    project,
    agent,
    task_type,
    strategy,
    success_rate,
    confidence,
    confidence_low,
    confidence_high,
    sessions,
    last_validated_at,
    strategy_id
FROM heuristics
WHERE
    trend IN ('weakening', 'strengthening')
    AND project LIKE $project ESCAPE '\'
    AND agent LIKE $agent ESCAPE '\'
    AND task_type LIKE $task_type ESCAPE '\'
    AND last_validated_at >= $since::DATE
    AND last_validated_at < $until::DATE::TIMESTAMP + INTERVAL 1 DAY
ORDER BY trend DESC, abs(confidence - success_rate) DESC, project, agent, task_type, strategy_id
