-- question: What was decided in review, by whom and why?
-- columns: decided_at (UTC) – when; action – promote, reject or merge; kind – of what; project – its project; text – what
--   was read; changed_by – who; reason – why; changed_ids – the memories it changed or made, none: kept as it was;
--   item_id – as `slowwave review` takes it
-- params: project=%; since=1900-01-01; until=9999-12-31
-- `since` and `until` are days, both included.
SELECT decided_at, action, kind, project, text, changed_by, reason, changed_ids, item_id
FROM review_decisions
WHERE
    project LIKE $project ESCAPE '\'
    AND decided_at >= $since::DATE
    AND decided_at < $until::DATE::TIMESTAMP + INTERVAL 1 DAY
ORDER BY decided_at DESC, item_id
