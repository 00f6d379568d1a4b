-- question: How full is each quota of memories, and does the plan meet it?
-- columns: quota_kind – of a project, or of one agent in a project; project – the project; agent – the agent, '' is all
--   of a project's quota; quota (memories) – active ones it may keep; active_count (memories) – now; planned_count
--   (memories) – of them in the plan; protected_count (memories) – of them never planned; is_met – by the plan; reason
--   – why not
SELECT quota_kind, project, agent, quota, active_count, planned_count, protected_count, is_met, reason
FROM forgetting_quotas
ORDER BY is_met, active_count - planned_count - quota DESC, quota_kind, project, agent
