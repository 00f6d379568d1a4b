-- question: What do the rules and a language model say of the same changes of memories, and where do they differ?
-- columns: project – the project, '' is none; rules_action – what the rules say: add, update, merge, skip or delete;
--   model_action – what the model says, null is: none was asked, or it has not answered; is_same – both name the same
--   action and the same memory; changes – of memories; memory_id – the latest of them; content – what it said;
--   rules_target – the memory that the rules name, null is none; model_target – the one that the model names;
--   rules_reason – why, say the rules; model_reason – why, says the model
-- params: project=%
-- Where they differ comes first. Which of them is right, a person says: neither is a standard for the other.
WITH said AS (
    SELECT
        project,
        memory_id,
        changed_at,
        content,
        d.rules_action IS NOT NULL AS is_answered,
        coalesce(d.rules_action, action) AS rules_action,
        CASE WHEN is_answered THEN action END AS model_action,
        CASE WHEN is_answered THEN rules_target_memory_id ELSE target_memory_id END AS rules_target,
        CASE WHEN is_answered THEN target_memory_id END AS model_target,
        coalesce(d.rules_reason, reason) AS rules_reason,
        CASE WHEN is_answered THEN reason END AS model_reason
    FROM curation_decisions AS d
    WHERE project LIKE $project ESCAPE '\'
),

compared AS (
    SELECT
        *,
        CASE
            WHEN is_answered THEN rules_action = model_action AND rules_target IS NOT DISTINCT FROM model_target
        END AS is_same
    FROM said
)

SELECT
    project,
    rules_action,
    model_action,
    is_same,
    count(*) AS changes,
    first(memory_id ORDER BY changed_at DESC, memory_id) AS memory_id,
    first(content ORDER BY changed_at DESC, memory_id) AS content,
    first(rules_target ORDER BY changed_at DESC, memory_id) AS rules_target,
    first(model_target ORDER BY changed_at DESC, memory_id) AS model_target,
    first(rules_reason ORDER BY changed_at DESC, memory_id) AS rules_reason,
    first(model_reason ORDER BY changed_at DESC, memory_id) AS model_reason
FROM compared
GROUP BY project, rules_action, model_action, is_same
ORDER BY is_same NULLS LAST, changes DESC, project, rules_action, model_action
