-- question: Which memories go with better or worse outcomes, and how far can that be believed?
-- columns: memory_id – the memory; project – its project; lift (difference of shares) – observed minus expected success of
--   the interactions that had it, drawn towards the mean of all memories of its basis; lift_low (difference of shares) – lower end of its 90 % interval; lift_high (difference
--   of shares) – upper end; lift_basis – randomised or cutoff: an effect, same_task: before and after, matched:
--   associated only, retrieval was not randomised; lift_detectable (difference of shares) – smallest lift that
--   its own interactions would show; is_harmful – lowers success beyond chance; lost_successes (attempts) – lost to it; content – its text
-- params: agent=%; basis=%; project=%; tag=%; user=%
SELECT
    memory_id,
    project,
    lift,
    lift_low,
    lift_high,
    lift_basis,
    lift_detectable,
    is_harmful,
    lost_successes,
    content
FROM memory_health
WHERE
    lift IS NOT NULL
    AND lift_basis LIKE $basis ESCAPE '\'
    AND coalesce(project, '') LIKE $project ESCAPE '\'
    AND (agent LIKE $agent ESCAPE '\' OR coalesce(agent, '') = '')
    AND coalesce(user_id, '') LIKE $user ESCAPE '\'
    AND ($tag = '%' OR len(list_filter(tags, lambda tag: tag LIKE $tag ESCAPE '\')) > 0)
ORDER BY is_harmful DESC NULLS LAST, lift, memory_id
