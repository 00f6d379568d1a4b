-- question: What was archived, restored, held or released, by whom and why?
-- columns: decided_at (UTC) – when; action – what; target_kind – memory or project; target – which; rule – of an
--   archiving; reason – why; changed_by – who; need_30d (0-1) – what was predicted then; command_id – as `forget
--   restore --run` takes it
-- params: since=1900-01-01; until=9999-12-31
-- `since` and `until` are days, both included.
SELECT decided_at, action, target_kind, target, rule, reason, changed_by, need_30d, command_id
FROM forgetting_audit
WHERE
    decided_at >= $since::DATE
    AND decided_at < $until::DATE::TIMESTAMP + INTERVAL 1 DAY
ORDER BY decided_at DESC, target, decision_id
