-- question: Which memories do answers quote or use most?
-- columns: memory_id – the memory; project – its project, '' is none; status – its state;
--   eligible_count (interactions) – could have used it; injected_count (interactions) – were given it;
--   reference_count (interactions) – answers that quote it or use it in other words, a minimum; echoed_count (interactions) – of them, those that quote it;
--   content – its text
-- params: project=%; limit=20
SELECT
    memory_id,
    project,
    status,
    eligible_count,
    injected_count,
    reference_count,
    echoed_count,
    content
FROM memory_health
WHERE reference_count > 0 AND coalesce(project, '') LIKE $project ESCAPE '\'
ORDER BY reference_count DESC, memory_id
LIMIT $limit::BIGINT
