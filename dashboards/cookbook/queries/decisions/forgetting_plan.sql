-- question: Which memories may be archived now, by which rule, and why?
-- columns: rule – the first rule that says so; memory_id – the memory; project – its project; agent – its agent;
--   reason – the rule's figures; need_30d (0-1) – probability of a reference in 30 days; strength (0-1) – what is left
--   of its evidence; is_shadow – stays active when applied, to measure regret; content – its text
-- params: agent=%; project=%; memory_id=%; tag=%; user=%
SELECT rule, memory_id, p.project, p.agent, p.reason, p.need_30d, p.strength, p.is_shadow, h.content
FROM forgetting_plan AS p
JOIN memory_health AS h USING (memory_id)
WHERE
    p.project LIKE $project ESCAPE '\'
    AND memory_id LIKE $memory_id ESCAPE '\'
    AND (h.agent LIKE $agent ESCAPE '\' OR coalesce(h.agent, '') = '')
    AND coalesce(h.user_id, '') LIKE $user ESCAPE '\'
    AND ($tag = '%' OR len(list_filter(h.tags, lambda tag: tag LIKE $tag ESCAPE '\')) > 0)
ORDER BY
    list_position(
        ['superseded', 'invalid', 'low_confidence', 'faded', 'untouched', 'agent_quota', 'project_quota'], rule
    ),
    need_30d NULLS LAST, strength NULLS LAST, memory_id
