-- question: What is known of each strategy that was tried?
-- columns: project – the project; agent – the agent; task_type – kind of task; strategy – its shown wording;
--   attempts – real attempts ever; inferred (attempts) – of them known by inference alone; successes – of them successful; confidence (0-1) – estimated success of the next
--   comparable attempt; confidence_low (0-1) – lower end of its 90 % credible interval; confidence_high (0-1) – upper
--   end; sessions – sessions it was tried in; trend – the last 28 days beside all before; wordings – how many wordings
--   were taken for it; strategy_id – for `slowwave why`
-- params: agent=%; at_least=1; project=%; strategy_id=%; since=1900-01-01; task_type=%; until=9999-12-31
-- Those whose last try is of the days `since` to `until`, both included; figures are of all days.
SELECT
    project,
    agent,
    task_type,
    strategy,
    attempts,
    (
        SELECT count(*)
        FROM counted_outcomes AS o
        WHERE
            o.project = h.project AND o.agent = h.agent AND o.task_type = h.task_type
            AND o.strategy_id = h.strategy_id AND o.is_learned AND o.basis = 'inferred'
    ) AS inferred,
    successes,
    confidence,
    confidence_low,
    confidence_high,
    sessions,
    trend,
    len(variants) AS wordings,
    strategy_id
FROM heuristics AS h
WHERE
    attempts >= $at_least::BIGINT
    AND project LIKE $project ESCAPE '\'
    AND agent LIKE $agent ESCAPE '\'
    AND task_type LIKE $task_type ESCAPE '\'
    AND last_validated_at >= $since::DATE
    AND last_validated_at < $until::DATE::TIMESTAMP + INTERVAL 1 DAY
    AND strategy_id LIKE $strategy_id ESCAPE '\'
ORDER BY project, agent, task_type, confidence_low DESC, strategy_id
