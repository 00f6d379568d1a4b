-- question: Which memories will most likely be needed in the next 30 days?
-- columns: memory_id – the memory; project – its project, '' is none; need_30d (probability) – at least one reference
--   in 30 days; need_if_active (probability) – the same if the project is as active as it was; strength (0-1) – now;
--   trend – of its use; reference_count (interactions) – detected uses; last_referenced_at (UTC) – the last of them;
--   content – its text
-- params: project=%; limit=20
SELECT
    memory_id,
    project,
    need_30d,
    need_if_active,
    strength,
    trend,
    reference_count,
    last_referenced_at,
    content
FROM memory_health
WHERE status = 'active' AND need_30d IS NOT NULL AND coalesce(project, '') LIKE $project ESCAPE '\'
ORDER BY need_30d DESC, need_if_active DESC NULLS LAST, memory_id
LIMIT $limit::BIGINT
