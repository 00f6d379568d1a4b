-- question: What was archived, restored, held or released, by whom and why?
-- columns: decided_at (UTC) – when; action – what; target_kind – memory or project; target – which; rule – of an
--   archiving; reason – why; changed_by – who; need_30d (0-1) – what was predicted then; command_id – as `forget
--   restore --run` takes it
SELECT decided_at, action, target_kind, target, rule, reason, changed_by, need_30d, command_id
FROM forgetting_audit
ORDER BY decided_at DESC, target, decision_id
