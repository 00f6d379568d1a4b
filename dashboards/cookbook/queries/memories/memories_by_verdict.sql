-- question: What should be done about the active memories of each project, and how is their use going?
-- columns: project – the project, '' is none; verdict – keep, review, forget, harmful or unproven; trend – of its use: new,
--   strengthening, stable, weakening, stale or unproven; memories_count (memories) – active ones
-- params: agent=%; project=%; tag=%; user=%
SELECT
    project,
    verdict,
    trend,
    count(*) AS memories_count
FROM memory_health
WHERE
    status = 'active'
    AND coalesce(project, '') LIKE $project ESCAPE '\'
    AND (agent LIKE $agent ESCAPE '\' OR coalesce(agent, '') = '')
    AND coalesce(user_id, '') LIKE $user ESCAPE '\'
    AND ($tag = '%' OR len(list_filter(tags, lambda tag: tag LIKE $tag ESCAPE '\')) > 0)
GROUP BY project, verdict, trend
ORDER BY
    project,
    list_position(['harmful', 'forget', 'review', 'unproven', 'keep'], verdict),
    list_position(['new', 'strengthening', 'stable', 'weakening', 'stale', 'unproven'], trend)
