-- question: Which instructions are injected again and again, and not followed?
-- columns: memory_id – the memory; project – its project, '' is global; memory_type – its type; checked_count
--   (interactions) – were given it, and a check tells whether their answer follows it; followed_count (interactions) –
--   whose answer does; not_followed_count (interactions) – whose answer does not; injected_count (interactions) – were
--   given it; expected – what the checks looked for; content – its text
-- params: agent=%; at_least=10; at_most=50; project=%; tag=%; user=%
-- `at_least`: answers that were checked. `at_most`: percent of them that follow it. Instructions that no check can tell of
-- are in `unchecked_instructions`; `slowwave why MEMORY` lists each answer with what was seen.
WITH verdicts AS (
    SELECT memory_id, interaction_id, bool_and(is_followed) AS is_followed, list(DISTINCT expected) AS expected
    FROM instruction_checks
    GROUP BY memory_id, interaction_id
),

counted AS (
    SELECT
        memory_id,
        count(*) AS checked_count,
        count_if(is_followed) AS followed_count,
        array_to_string(list_sort(list_distinct(flatten(list(expected)))), '; ') AS expected
    FROM verdicts
    GROUP BY memory_id
)

SELECT
    h.memory_id,
    h.project,
    h.memory_type,
    c.checked_count,
    c.followed_count,
    c.checked_count - c.followed_count AS not_followed_count,
    h.injected_count,
    c.expected,
    h.content
FROM memory_health AS h
JOIN counted AS c ON c.memory_id = h.memory_id
WHERE
    h.status = 'active'
    AND c.checked_count >= $at_least::BIGINT
    AND 100 * c.followed_count <= $at_most::HUGEINT * c.checked_count
    AND coalesce(h.project, '') LIKE $project ESCAPE '\'
    AND (h.agent LIKE $agent ESCAPE '\' OR coalesce(h.agent, '') = '')
    AND coalesce(h.user_id, '') LIKE $user ESCAPE '\'
    AND ($tag = '%' OR len(list_filter(h.tags, lambda tag: tag LIKE $tag ESCAPE '\')) > 0)
ORDER BY not_followed_count DESC, h.memory_id
