-- question: What would curation do with each memory, and why?
-- columns: memory_id – the memory; changed_at (UTC) – when this was said; project – its project, '' is none; action –
--   add, update, merge, skip or delete; kind – fact, observation or model; target_memory_id – what it is about, null is
--   add; reason – why; similarity (0-1) – to the target or, of add, to the nearest; method – who decided; content – what
--   was said; target_content – what the target said then
-- params: action=%; project=%; since=1900-01-01; until=9999-12-31; limit=100
-- `since` and `until` are days, both included.
-- Nothing is changed by it: `slowwave review` does that, where a person says so.
SELECT
    memory_id,
    changed_at,
    project,
    action,
    kind,
    target_memory_id,
    reason,
    similarity,
    method,
    content,
    target_content
FROM curation_decisions
WHERE
    action LIKE $action ESCAPE '\'
    AND project LIKE $project ESCAPE '\'
    AND changed_at >= $since::DATE
    AND changed_at < $until::DATE::TIMESTAMP + INTERVAL 1 DAY
ORDER BY action = 'add', changed_at DESC, memory_id
LIMIT $limit::BIGINT
