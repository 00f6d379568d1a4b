-- question: Which interactions were given a memory of another user, agent or tag scope?
-- columns: memory_id – the memory; interaction_id – was given it; occurred_at (UTC) – when; project – of the
--   interaction, '' is none; crossed – what is not the same: user, agent, or a scope tag such as tenant; memory_scope –
--   of these what the memory had; interaction_scope – what the interaction had, of a tag what the other memories put
--   into it had
-- params: project=%
-- `[scopes] tags = ["tenant"]` in params.toml names the tags. What was never said crosses nothing.
SELECT
    memory_id,
    interaction_id,
    occurred_at,
    project,
    crossed,
    memory_scope,
    interaction_scope
FROM scope_leaks
WHERE project LIKE $project ESCAPE '\'
ORDER BY occurred_at DESC, memory_id, interaction_id
