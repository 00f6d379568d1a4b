-- question: What does curation say of one memory, each time its text changed?
-- columns: changed_at (UTC) – when this was said; action – add, update, merge, skip or delete; kind – fact, observation or
--   model; target_memory_id – what it is about, null is add; reason – why; method – who decided; content – what was said
-- params: memory_id
-- Nothing is changed by it: `slowwave review` does that, where a person says so.
SELECT changed_at, action, kind, target_memory_id, reason, method, content
FROM curation_decisions
WHERE memory_id = $memory_id
ORDER BY changed_at DESC
