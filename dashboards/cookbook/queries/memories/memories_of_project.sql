-- question: Which memories does a project have, and how are they used?
-- columns: memory_id – the memory; memory_type – its type; status – its state;
--   eligible_count (interactions) – could have used it; injected_count (interactions) – were given it;
--   reference_count (interactions) – answers that quote or use it, a minimum;
--   content – its text
-- params: project=
-- '' lists the memories without project.
SELECT
    memory_id,
    memory_type,
    status,
    eligible_count,
    injected_count,
    reference_count,
    content
FROM memory_health
WHERE project = $project
ORDER BY status <> 'active', reference_count DESC, injected_count DESC, memory_id
