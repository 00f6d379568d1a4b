-- question: Of each project's memories, how many were ever eligible, injected, referenced?
-- columns: project – '' is none; memories (memories) – landed; active (memories) – active now;
--   eligible (memories) – at least once; injected (memories) – at least once;
--   referenced (memories) – with at least one detected use, a minimum
SELECT
    project,
    count(*) AS memories,
    count(*) FILTER (status = 'active') AS active,
    count(*) FILTER (eligible_count > 0) AS eligible,
    count(*) FILTER (injected_count > 0) AS injected,
    count(*) FILTER (reference_count > 0) AS referenced
FROM memory_health
WHERE status IS NOT NULL
GROUP BY project
ORDER BY memories DESC, project
