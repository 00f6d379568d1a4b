-- question: Which active memories could no interaction have used?
-- columns: memory_id – the memory; project – its project, '' is none; memory_type – its type;
--   created_at (UTC) – its first change; injected_count (interactions) – were given it all the same;
--   content – its text
-- Often the project has no interactions, or the memory is without project and of a type that is not global.
SELECT
    memory_id,
    project,
    memory_type,
    created_at,
    injected_count,
    content
FROM memory_health
WHERE status = 'active' AND eligible_count = 0
ORDER BY created_at, memory_id
