-- question: Which instructions are injected again and again, and not followed?
-- columns: memory_id – the memory; project – its project, '' is global; memory_type – its type; checked_count
--   (interactions) – were given it, and a check tells whether their answer follows it; followed_count (interactions) –
--   whose answer does; not_followed_count (interactions) – whose answer does not; followed_high (0-1) – upper end of the
--   90 % interval of the share that does; injected_count (interactions) – were given it; expected – what the checks
--   looked for; content – its text
-- params: agent=%; at_most=50; project=%; tag=%; user=%
-- `at_most`: percent that `followed_high` is below; 100 is whatever was checked. Instructions that no check can tell of
-- are in `unchecked_instructions`; `slowwave why MEMORY` lists each answer with what was seen.
SELECT
    h.memory_id,
    h.project,
    h.memory_type,
    h.followed_count + h.not_followed_count AS checked_count,
    h.followed_count,
    h.not_followed_count,
    h.followed_high,
    h.injected_count,
    c.expected,
    h.content
FROM memory_health AS h
JOIN (
    SELECT memory_id, string_agg(DISTINCT expected, '; ' ORDER BY expected) AS expected
    FROM instruction_checks
    GROUP BY memory_id
) AS c ON c.memory_id = h.memory_id
WHERE
    h.status = 'active'
    AND 100 * h.followed_high < $at_most::BIGINT
    AND coalesce(h.project, '') LIKE $project ESCAPE '\'
    AND (h.agent LIKE $agent ESCAPE '\' OR coalesce(h.agent, '') = '')
    AND coalesce(h.user_id, '') LIKE $user ESCAPE '\'
    AND ($tag = '%' OR len(list_filter(h.tags, lambda tag: tag LIKE $tag ESCAPE '\')) > 0)
ORDER BY h.not_followed_count DESC, h.memory_id
