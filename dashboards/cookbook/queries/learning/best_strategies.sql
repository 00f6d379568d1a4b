-- question: Which strategy should an agent use for a kind of task: the best so far?
-- columns: project – the project; agent – the agent; task_type – kind of task; strategy – the strategy, by its shown
--   wording (a kind of task where that is one to avoid has no row); confidence_low (0-1) – lower end of the 90 % credible interval:
--   what is sure; confidence (0-1) – estimated success of the next comparable attempt; confidence_high (0-1) – upper
--   end; attempts – real attempts with it; inferred (attempts) – of them known by inference alone; strategies_tried (strategies) – how many it was chosen from: the only one
--   tried is no choice; is_reliable – enough attempts, and the lower end above .5; trend – stale: not
--   tried lately at two looks a week apart (attempts of the last two weeks may not show yet), and the older attempts are,
--   the less they distinguish strategies; strategy_id – its id
-- params: agent=%; project=%; task_type=%
SELECT
    project,
    agent,
    task_type,
    strategy,
    confidence_low,
    confidence,
    confidence_high,
    attempts,
    (
        SELECT count(*)
        FROM counted_outcomes AS o
        WHERE
            o.project = h.project AND o.agent = h.agent AND o.task_type = h.task_type
            AND o.strategy_id = h.strategy_id AND o.is_learned AND o.basis = 'inferred'
    ) AS inferred,
    count(*) OVER tasks AS strategies_tried,
    is_reliable,
    trend,
    strategy_id
FROM heuristics AS h
WHERE
    project LIKE $project ESCAPE '\'
    AND agent LIKE $agent ESCAPE '\'
    AND task_type LIKE $task_type ESCAPE '\'
WINDOW tasks AS (PARTITION BY project, agent, task_type)
QUALIFY
    row_number() OVER (PARTITION BY project, agent, task_type ORDER BY confidence_low DESC, strategy_id) = 1
    AND NOT EXISTS (
        FROM anti_patterns AS a
        WHERE
            a.project = h.project AND a.agent = h.agent AND a.task_type = h.task_type
            AND a.strategy_id = h.strategy_id AND a.kind = 'avoid' AND a.state <> 'closed'
    )
ORDER BY confidence_low DESC, project, task_type, agent
