-- question: What has changed over time, and what was true before?
-- columns: observation_id – the fact; project – its project, '' is none; step (steps) – 1 is the oldest state; subject –
--   whose state it is; attribute – what about it has changed, empty where that has no name; value – what that was
--   then, all three null where the words do not say; from_at (UTC) – since when it was said, null is not said; until_at (UTC) – when the next state was said or this one
--   taken back, null is now; memory_id – a memory that says it; text – its words
-- params: project=%; limit=100
SELECT
    observation_id,
    project,
    step,
    states[step] ->> 'subject' AS subject,
    states[step] ->> 'attribute' AS attribute,
    states[step] ->> 'value' AS "value",
    CAST(states[step] ->> 'from' AS TIMESTAMP) AS from_at,
    CAST(states[step] ->> 'until' AS TIMESTAMP) AS until_at,
    states[step] ->> 'memory_id' AS memory_id,
    states[step] ->> 'text' AS text
FROM (
    SELECT *, unnest(range(1, len(states) + 1)) AS step
    FROM (SELECT *, CAST(CAST(journey AS JSON) AS JSON[]) AS states FROM observations WHERE journey IS NOT NULL)
)
WHERE project LIKE $project ESCAPE '\'
ORDER BY last_evidence_at DESC, observation_id, step
LIMIT $limit::BIGINT
