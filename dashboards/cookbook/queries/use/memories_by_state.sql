-- question: How many memories are in which state, and how strong are they?
-- columns: status – candidate, active, superseded, invalid, archived or graduated, NULL was injected but never landed;
--   strength_state – strong, normal, weak or forgettable, NULL is no evidence at all; memories_count (memories) – so many
-- params: agent=%; project=%; tag=%; user=%
SELECT
    status,
    strength_state,
    count(*) AS memories_count
FROM memory_health
WHERE
    coalesce(project, '') LIKE $project ESCAPE '\'
    AND (agent LIKE $agent ESCAPE '\' OR coalesce(agent, '') = '')
    AND coalesce(user_id, '') LIKE $user ESCAPE '\'
    AND ($tag = '%' OR len(list_filter(tags, lambda tag: tag LIKE $tag ESCAPE '\')) > 0)
GROUP BY status, strength_state
ORDER BY
    list_position(['active', 'candidate', 'superseded', 'invalid', 'archived', 'graduated'], status) NULLS LAST,
    list_position(['strong', 'normal', 'weak', 'forgettable'], strength_state) NULLS LAST
