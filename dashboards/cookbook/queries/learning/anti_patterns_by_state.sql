-- question: Which strategies keep failing, which no longer do, and which were not tried lately?
-- columns: state – open, dormant (not tried lately) or closed (no longer failing more than others, or now expected to succeed); kind – avoid; project – the project; agent – the agent; task_type – kind of task; pattern – the strategy;
--   error_template – the error behind at least half of its failures; failure_rate (0-1) – of all its attempts;
--   baseline_rate (0-1) – of comparable attempts; e_value – evidence that may be looked at every night; last_seen_at (UTC) –
--   last failure; strategy_id – its id
-- params: agent=%; project=%; since=1900-01-01; task_type=%; until=9999-12-31
-- Those whose last failure is of the days `since` to `until`, both included; figures are of all days.
SELECT
    state,
    kind,
    project,
    agent,
    task_type,
    pattern,
    error_template,
    failure_rate,
    baseline_rate,
    e_value,
    last_seen_at,
    strategy_id
FROM anti_patterns
WHERE
    kind = 'avoid'
    AND project LIKE $project ESCAPE '\'
    AND agent LIKE $agent ESCAPE '\'
    AND task_type LIKE $task_type ESCAPE '\'
    AND last_seen_at >= $since::DATE
    AND last_seen_at < $until::DATE::TIMESTAMP + INTERVAL 1 DAY
ORDER BY state DESC, e_value DESC, project, agent, task_type, strategy_id
