-- question: On which memories does one observation stand, and which are at odds with it?
-- columns: part – states (says it), earlier (an earlier state of it, still active) or at odds (both cannot hold);
--   memory_id – the memory; project – its project, '' is none; status – its state; verdict – keep, review, forget,
--   harmful, unproven or inactive; reference_count (interactions) – detected uses; created_at (UTC) – first said;
--   content – its text
-- params: observation_id
SELECT part, memory_id, h.project, h.status, h.verdict, h.reference_count, h.created_at, h.content
FROM (
    SELECT 'states' AS part, unnest(memory_ids) AS memory_id
    FROM observations
    WHERE observation_id = $observation_id
    UNION ALL
    SELECT 'earlier', unnest(supersedes)
    FROM observations
    WHERE observation_id = $observation_id
    UNION ALL
    SELECT 'at odds', unnest(contradicts)
    FROM observations
    WHERE observation_id = $observation_id
)
JOIN memory_health AS h USING (memory_id)
ORDER BY list_position(['states', 'earlier', 'at odds'], part), h.created_at, memory_id
