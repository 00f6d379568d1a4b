-- question: What did the last publish spend its time on, step by step?
-- columns: step – the function that computes it; stage – the line of the benchmark it counts for; tables – that it
--   publishes, none is only for other steps; rows_count (rows) – of these that this run wrote; cpu_seconds (s) – CPU
--   time of all threads; share (0–1) – of all steps
-- What was taken over from the publish before cost nothing and is not counted. `slowwave inspect lineage` draws what is made
-- from what.
SELECT
    step,
    stage,
    tables,
    rows_count,
    cpu_seconds,
    coalesce(cpu_seconds / nullif(sum(cpu_seconds) OVER (), 0), 0) AS share
FROM run_steps
ORDER BY cpu_seconds DESC, step
