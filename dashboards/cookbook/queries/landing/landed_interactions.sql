-- question: Which interactions have landed, by project, agent, client, session or time, newest first?
-- columns: created_at (UTC) – when it happened, to the microsecond; prompt (first 200 characters) – what was asked;
--   response (first 200 characters) – what was answered; project – its project, '' is none; agent – its agent, '' is
--   none; client – the program the agent ran in, NULL is not known; session_id – its session, NULL is none; user_id – on
--   whose behalf, NULL is not known; memories_count (memories) – put into its prompt, NULL is not said; cited_count
--   (memories) – named by its answer, NULL is not said; interaction_id – the interaction; recorded_at (UTC) – when the
--   version that counts was written; interactions_count (interactions) – that fit, on all pages together
-- params: project=%; agent=%; client=%; session_id=%; user=%; since=; until=; limit=50; offset=0
-- `since` is included and `until` is not: a day (its midnight), or a time with or without an offset (none: UTC), to the
-- microsecond; '' is no bound. A client, session or user that is not known is ''. Rows written after what the publish
-- shows are among them.
CREATE TEMP TABLE fitting AS
WITH all_fitting AS MATERIALIZED (
    SELECT interaction_id, row_hash, created_at
    FROM interactions
    WHERE
        -- what is not asked for is not read
        ($project = '%' OR project LIKE $project ESCAPE '\')
        AND ($agent = '%' OR agent LIKE $agent ESCAPE '\')
        AND ($client = '%' OR coalesce(client, '') LIKE $client ESCAPE '\')
        AND ($session_id = '%' OR coalesce(session_id, '') LIKE $session_id ESCAPE '\')
        AND ($user = '%' OR coalesce(user_id, '') LIKE $user ESCAPE '\')
        AND ($since = '' OR created_at >= nullif($since, '')::TIMESTAMPTZ::TIMESTAMP)
        AND ($until = '' OR created_at < nullif($until, '')::TIMESTAMPTZ::TIMESTAMP)
)
SELECT *, (SELECT count(*) FROM all_fitting) AS interactions_count
FROM all_fitting
ORDER BY created_at DESC, interaction_id
LIMIT $limit::BIGINT OFFSET $offset::BIGINT;

-- the texts of these days alone are read: of all that landed they may be more than fits into memory
SET VARIABLE first_at = (SELECT min(created_at) FROM fitting);
SET VARIABLE last_at = (SELECT max(created_at) FROM fitting);

SELECT
    f.created_at,
    left(v.prompt, 200) AS prompt,
    left(v.response, 200) AS response,
    v.project,
    v.agent,
    v.client,
    v.session_id,
    v.user_id,
    len(v.memories_used) AS memories_count,
    len(v.memories_cited) AS cited_count,
    f.interaction_id,
    v.recorded_at,
    f.interactions_count
FROM fitting AS f
JOIN interactions_log AS v ON v.interaction_id = f.interaction_id AND v.row_hash = f.row_hash
WHERE v.created_at BETWEEN getvariable('first_at') AND getvariable('last_at')
ORDER BY f.created_at DESC, f.interaction_id
