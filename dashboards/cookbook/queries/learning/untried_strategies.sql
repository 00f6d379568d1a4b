-- question: Which strategies, not tried here yet, could do better than the best tried one?
-- columns: project – the project; agent – the agent; task_type – kind of task; strategy – shown wording of the strategy,
--   not tried here; confidence (0-1) – estimated success of a first attempt, from its relatives alone; confidence_low
--   (0-1) – lower end of its 90 % credible interval; confidence_high (0-1) – upper end; best_tried – the tried strategy
--   that is best so far; best_tried_confidence (0-1) – its estimate; elsewhere_attempts (attempts) – with the
--   strategy at other kinds of task; elsewhere_successes (attempts) – of them successful; task_estimate (0-1) –
--   what the kind of task alone says of a first attempt; twin_attempts (attempts) – with it here, by other agents;
--   twin_successes (attempts) – of them successful; here_attempts (attempts) – with other strategies here; here_successes (attempts) – of them successful; strategy_id – for `slowwave why`
-- params: agent=%; project=%; strategy_id=%; task_type=%
SELECT
    u.project,
    u.agent,
    u.task_type,
    u.strategy,
    u.confidence,
    u.confidence_low,
    u.confidence_high,
    h.strategy AS best_tried,
    u.best_tried_confidence,
    u.elsewhere_attempts,
    u.elsewhere_successes,
    u.task_estimate,
    u.twin_attempts,
    u.twin_successes,
    u.here_attempts,
    u.here_successes,
    u.strategy_id
FROM untried_strategies AS u
JOIN heuristics AS h
    ON
        h.project = u.project AND h.agent = u.agent AND h.task_type = u.task_type
        AND h.strategy_id = u.best_tried_strategy_id
WHERE
    u.could_beat_best_tried
    AND u.project LIKE $project ESCAPE '\'
    AND u.agent LIKE $agent ESCAPE '\'
    AND u.task_type LIKE $task_type ESCAPE '\'
    AND u.strategy_id LIKE $strategy_id ESCAPE '\'
QUALIFY
    row_number() OVER (
        PARTITION BY u.project, u.agent, u.task_type ORDER BY u.confidence DESC, u.strategy_id
    ) <= 3
ORDER BY u.confidence - u.best_tried_confidence DESC, u.project, u.agent, u.task_type, u.strategy_id
