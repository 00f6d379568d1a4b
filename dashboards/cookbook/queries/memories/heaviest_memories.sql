-- question: Which memories took most of the tokens that were ever injected?
-- columns: memory_id – the memory; project – its project, '' is none; injected_count (interactions) – were given it;
--   injected_tokens (tokens) – in all prompts together, those of its text estimated as a quarter of its characters;
--   content – its text
-- params: project=%
SELECT
    memory_id,
    project,
    injected_count,
    injected_count * ceil(length(content) / 4)::BIGINT AS injected_tokens,
    content
FROM memory_health
WHERE injected_count > 0 AND coalesce(project, '') LIKE $project ESCAPE '\'
ORDER BY injected_tokens DESC, memory_id
