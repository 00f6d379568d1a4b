-- question: Which instructions and preferences are injected again and again, and never seen in an answer?
-- columns: memory_id – the memory; project – its project, '' is global; memory_type – its type; injected_count
--   (interactions) – were given it; content – its text
-- params: agent=%; at_least=10; project=%; tag=%; user=%
-- Of uses a part is found, and an instruction may be followed without its words: read some answers before it is changed.
SELECT memory_id, project, memory_type, injected_count, content
FROM memory_health
WHERE
    status = 'active'
    AND memory_type IN ('instruction', 'preference', 'rule', 'adaptation', 'feedback', 'procedural')
    AND injected_count >= $at_least::BIGINT
    AND reference_count = 0
    AND cited_count = 0
    AND coalesce(project, '') LIKE $project ESCAPE '\'
    AND coalesce(agent, '') LIKE $agent ESCAPE '\'
    AND coalesce(user_id, '') LIKE $user ESCAPE '\'
    AND ($tag = '%' OR len(list_filter(tags, lambda tag: tag LIKE $tag ESCAPE '\')) > 0)
ORDER BY injected_count DESC, memory_id
