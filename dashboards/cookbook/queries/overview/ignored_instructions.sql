-- question: Which instructions and preferences are injected again and again, and never seen in an answer?
-- columns: memory_id – the memory; project – its project, '' is global; memory_type – its type; injected_count
--   (interactions) – were given it; seen_count (interactions) – whose answer quotes, uses or cites it; content – its text
-- params: agent=%; at_least=10; at_most=0; project=%; tag=%; user=%
-- `at_most`: how often they were seen. Of uses a part is found, and an instruction may be followed without its words:
-- read some answers before it is changed.
SELECT memory_id, project, memory_type, injected_count, reference_count + cited_count AS seen_count, content
FROM memory_health
WHERE
    status = 'active'
    AND memory_type IN ('instruction', 'preference', 'rule', 'adaptation', 'feedback', 'procedural')
    AND injected_count >= $at_least::BIGINT
    AND seen_count <= $at_most::BIGINT
    AND coalesce(project, '') LIKE $project ESCAPE '\'
    AND (agent LIKE $agent ESCAPE '\' OR coalesce(agent, '') = '')
    AND coalesce(user_id, '') LIKE $user ESCAPE '\'
    AND ($tag = '%' OR len(list_filter(tags, lambda tag: tag LIKE $tag ESCAPE '\')) > 0)
ORDER BY injected_count DESC, memory_id
