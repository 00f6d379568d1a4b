-- question: How many items need review in each project, and how old is the oldest?
-- columns: project – the project; items – all of them; harmful – memories that lower success;
--   ignored – instructions that most answers do not follow; contradictions – memories at odds; outdated – in use though a later one replaces them; expiring – referenced often,
--   and about to expire; candidates – not in use yet;
--   merges – memories that say the same; doubtful – failed more often than expected; fading – have faded, go down, or
--   fade though they are needed; unused – no use was detected; first_seen_at (UTC) – the first interaction behind any
--   of it
SELECT
    project,
    count(*) AS items,
    count(*) FILTER (kind = 'harmful') AS harmful,
    count(*) FILTER (kind = 'ignored') AS ignored,
    count(*) FILTER (kind = 'contradiction') AS contradictions,
    count(*) FILTER (kind = 'outdated') AS outdated,
    count(*) FILTER (kind = 'expiring') AS expiring,
    count(*) FILTER (kind = 'candidate') AS candidates,
    count(*) FILTER (kind = 'merge') AS merges,
    count(*) FILTER (kind = 'doubtful') AS doubtful,
    count(*) FILTER (kind = 'fading') AS fading,
    count(*) FILTER (kind = 'unused') AS unused,
    min(first_seen_at) AS first_seen_at
FROM review_queue
GROUP BY project
ORDER BY items DESC, project
