-- question: How much waits for review in each project, and how old is the oldest of it?
-- columns: project – the project; items – all that waits; harmful – memories that lower success;
--   contradictions – memories at odds; candidates – not in use yet; merges – memories that say the same; fading – that
--   need a look, or fade though they are needed; first_seen_at (UTC) – the first interaction behind any of it
SELECT
    project,
    count(*) AS items,
    count(*) FILTER (kind = 'harmful') AS harmful,
    count(*) FILTER (kind = 'contradiction') AS contradictions,
    count(*) FILTER (kind = 'candidate') AS candidates,
    count(*) FILTER (kind = 'merge') AS merges,
    count(*) FILTER (kind = 'fading') AS fading,
    min(first_seen_at) AS first_seen_at
FROM review_queue
GROUP BY project
ORDER BY items DESC, project
