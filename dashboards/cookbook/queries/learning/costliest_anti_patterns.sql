-- question: Which failing strategies cost most, and what succeeds instead?
-- columns: project – the project; agent – the agent; task_type – kind of task; pattern – the strategy; kind – avoid: it
--   fails more often than its comparables; failures – failed attempts; attempts – attempts;
--   inferred (attempts) – of them known by inference alone; expected_failures – failures that comparable attempts would have had; cost – of the failures beyond those, in
--   cost_unit; cost_unit – ms, tokens, or what producers said of their costs, such as usd, NULL: nobody said; better_alternative – the tried strategy that is best so far, where its lower bound is above this one's confidence, else NULL; why_bad – the evidence; strategy_id – its id
-- params: agent=%; project=%; state=open; since=1900-01-01; task_type=%; until=9999-12-31
-- Those whose last failure is of the days `since` to `until`, both included; figures are of all days.
SELECT
    project,
    agent,
    task_type,
    pattern,
    kind,
    failures,
    attempts,
    (
        SELECT count(*)
        FROM counted_outcomes AS o
        WHERE
            o.project = a.project AND o.agent = a.agent AND o.task_type = a.task_type
            AND o.strategy_id = a.strategy_id AND o.is_learned AND o.basis = 'inferred'
    ) AS inferred,
    attempts * baseline_rate AS expected_failures,
    cost,
    cost_unit,
    better_alternative,
    why_bad,
    strategy_id
FROM anti_patterns AS a
WHERE
    kind = 'avoid'
    AND state = $state
    AND project LIKE $project ESCAPE '\'
    AND agent LIKE $agent ESCAPE '\'
    AND task_type LIKE $task_type ESCAPE '\'
    AND last_seen_at >= $since::DATE
    AND last_seen_at < $until::DATE::TIMESTAMP + INTERVAL 1 DAY
ORDER BY cost_unit, cost DESC NULLS LAST, failures DESC, project, agent, task_type, strategy_id
