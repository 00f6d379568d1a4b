-- question: Which memories were changed in the days before the publish, by whom and why?
-- columns: changed_at (UTC) – when; memory_id – the memory; project – as the change states it, NULL is as before;
--   status – as the change states it, NULL is as before; changed_by – who; reason – why;
--   content – as the change states it, NULL is as before
-- params: days=7
SELECT
    changed_at,
    memory_id,
    project,
    status,
    changed_by,
    reason,
    content
FROM memories
WHERE
    changed_at < (SELECT max(as_of) FROM memory_health)
    AND changed_at >= (SELECT max(as_of) FROM memory_health) - to_days($days::INTEGER)
ORDER BY changed_at DESC, memory_id
