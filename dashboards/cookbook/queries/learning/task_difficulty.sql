-- question: How hard is each kind of task, whoever tries it?
-- columns: project – the project; task_type – kind of task; estimate (0-1) – estimated success of an attempt with a
--   strategy that is new to the project; estimate_low (0-1) – lower end of its 90 % credible interval; estimate_high
--   (0-1) – upper end; attempts (attempts) – with any strategy, by any agent; successes (attempts) – of them successful;
--   sessions (sessions) – with such an attempt; strategies (strategies) – that were tried; agents (agents) – that tried
-- params: project=%; task_type=%
SELECT
    project,
    task_type,
    estimate,
    estimate_low,
    estimate_high,
    attempts,
    successes,
    sessions,
    strategies,
    agents
FROM task_difficulty
WHERE project LIKE $project ESCAPE '\' AND task_type LIKE $task_type ESCAPE '\'
ORDER BY estimate, project, task_type
