-- question: Which outcomes were not counted in strategies, and why?
-- columns: project – the project; agent – the agent; reason – why it is no attempt, or not learned from; basis –
--   reported, evaluated or inferred; outcomes – how many; failures (outcomes) – of them reported as failures; last_at (UTC) – the last of them
SELECT
    project,
    agent,
    reason,
    basis,
    count(*) AS outcomes,
    count(*) FILTER (NOT success) AS failures,
    max(created_at) AS last_at
FROM counted_outcomes
WHERE reason IS NOT NULL
GROUP BY project, agent, reason, basis
ORDER BY outcomes DESC, project, agent, reason, basis
