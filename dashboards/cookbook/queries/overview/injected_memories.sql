-- question: Which memories fill the prompts, what does that cost, and which of them are not used?
-- columns: memory_id – the memory; project – its project, '' is global; memory_type – its type; injected (interactions) –
--   that were given it; used (interactions) – of them, those whose answer quotes or uses it, a minimum; tokens (tokens) –
--   of its text, estimated as a quarter of its characters; injected_tokens (tokens) – in all prompts together;
--   is_unused – injected `at_least` times or more, and not used; use_state – used, not_used, undetectable or unproven;
--   content – its text
-- params: agent=%; at_least=10; project=%; since=1900-01-01; tag=%; until=9999-12-31; user=%
-- `since` and `until` are days, both included. Had half of its injections used a not_used memory, a use should have been
-- found; it may be used at times. Of undetectable and unproven ones nothing can be said.
WITH given AS (
    SELECT
        r.memory_id,
        count(*) AS injected,
        count(*) FILTER (r.is_echoed OR r.is_used) AS used
    FROM memory_references AS r
    WHERE
        r.is_injected
        AND r.occurred_at >= $since::DATE AND r.occurred_at < $until::DATE::TIMESTAMP + INTERVAL 1 DAY
        AND coalesce(r.project, '') LIKE $project ESCAPE '\'
        AND coalesce(r.agent, '') LIKE $agent ESCAPE '\'
    GROUP BY r.memory_id
)
SELECT
    memory_id,
    h.project,
    h.memory_type,
    g.injected,
    g.used,
    ceil(length(h.content) / 4)::BIGINT AS tokens,
    g.injected * ceil(length(h.content) / 4)::BIGINT AS injected_tokens,
    h.use_state = 'not_used' AND h.injected_count >= $at_least::BIGINT AS is_unused,
    h.use_state,
    h.content
FROM given AS g
JOIN memory_health AS h USING (memory_id)
WHERE
    coalesce(h.user_id, '') LIKE $user ESCAPE '\'
    AND ($tag = '%' OR len(list_filter(h.tags, lambda tag: tag LIKE $tag ESCAPE '\')) > 0)
ORDER BY injected_tokens DESC, memory_id
