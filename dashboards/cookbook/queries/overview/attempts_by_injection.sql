-- question: How often do attempts with a memory injected succeed, and how often those without, where they can be compared?
-- columns: project – the project; agent – the agent; task_type – kind of task; has_memory – at least one memory was
--   injected; offered_count (memories) – that the retriever offered, 0 is not said; probability (probability) – with which
--   chance injected each of them, 1 is that chance had no part; attempts (attempts) – of interactions that landed;
--   successes (attempts) – of them
-- params: agent=%; project=%; since=1900-01-01; until=9999-12-31
-- `since` and `until` are days, both included.
SELECT
    project,
    agent,
    task_type,
    has_memory,
    offered_count,
    probability,
    sum(attempts)::BIGINT AS attempts,
    sum(successes)::BIGINT AS successes
FROM attempts_by_injection
WHERE
    day BETWEEN $since::DATE AND $until::DATE
    AND project LIKE $project ESCAPE '\'
    AND agent LIKE $agent ESCAPE '\'
GROUP BY ALL
ORDER BY ALL
