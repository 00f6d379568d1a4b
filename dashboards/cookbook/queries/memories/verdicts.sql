-- question: What should be done about each memory, and why?
-- columns: memory_id – the memory; project – its project, '' is none; status – its state; verdict – keep, review,
--   forget, harmful, unproven or inactive; main_reason – what its use says, with how far it faded; reasons_count
--   (reasons) – all of them: `why_verdict`; content – its text
-- params: verdict=%; project=%; limit=100
-- What needs a person or a decision comes first; verdict=forget shows one kind only.
SELECT
    memory_id,
    project,
    status,
    verdict,
    coalesce(
        array_to_string([reasons[1], list_filter(reasons[2:], lambda reason: reason LIKE 'Faded%')[1]], ' '), ''
    ) AS main_reason,
    len(reasons) AS reasons_count,
    content
FROM memory_health
WHERE verdict LIKE $verdict ESCAPE '\' AND coalesce(project, '') LIKE $project ESCAPE '\'
ORDER BY list_position(['harmful', 'forget', 'review', 'unproven', 'keep', 'inactive'], verdict),
    lost_successes DESC NULLS LAST,
    injected_count DESC, memory_id
LIMIT $limit::BIGINT
