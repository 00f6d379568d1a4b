-- question: What was decided in review, by whom and why?
-- columns: decided_at (UTC) – when; action – promote, reject or merge; kind – of what; project – its project; text – what
--   was read; changed_by – who; reason – why; changed_ids – the memories it changed or made, none: kept as it was;
--   item_id – as `slowwave review` takes it
SELECT decided_at, action, kind, project, text, changed_by, reason, changed_ids, item_id
FROM review_decisions
ORDER BY decided_at DESC, item_id
