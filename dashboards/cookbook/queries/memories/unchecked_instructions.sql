-- question: Of which instructions that are injected can no check tell whether they are followed?
-- columns: memory_id – the memory; project – its project, '' is global; memory_type – its type; injected_count
--   (interactions) – were given it; content – its text
-- params: agent=%; at_least=10; project=%; tag=%; user=%
-- Nothing is said of them: read some answers. A short imperative (`Answer in British English.`) can be checked.
SELECT memory_id, project, memory_type, injected_count, content
FROM memory_health
WHERE
    status = 'active'
    AND memory_type IN ('instruction', 'preference', 'rule', 'adaptation', 'feedback', 'procedural')
    AND injected_count >= $at_least::BIGINT
    AND followed_low IS NULL
    AND coalesce(project, '') LIKE $project ESCAPE '\'
    AND (agent LIKE $agent ESCAPE '\' OR coalesce(agent, '') = '')
    AND coalesce(user_id, '') LIKE $user ESCAPE '\'
    AND ($tag = '%' OR len(list_filter(tags, lambda tag: tag LIKE $tag ESCAPE '\')) > 0)
ORDER BY injected_count DESC, memory_id
