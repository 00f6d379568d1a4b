-- question: How often are instructions followed that a check can tell of?
-- columns: memory_id – the instruction; project – its project, '' is global; status – its state, NULL was never landed;
--   check_kind – the kind of check; expected – what it looked for; checked_count (interactions) – were given it and can be told
--   of; followed_count (interactions) – whose answer follows it; followed_share (0-1) – the part of them;
--   last_not_followed – the newest interaction whose answer does not, NULL is none; saw – what the check saw there
-- params: agent=%; project=%; tag=%; user=%
-- Where nothing can be said of an answer it is not counted: a prompt may ask for something else, or say too little.
SELECT
    c.memory_id,
    h.project,
    h.status,
    c.check_kind,
    c.expected,
    count(*) AS checked_count,
    count_if(c.is_followed) AS followed_count,
    count_if(c.is_followed) / count(*) AS followed_share,
    arg_max(c.interaction_id, (c.occurred_at, c.interaction_id)) FILTER (NOT c.is_followed) AS last_not_followed,
    arg_max(c.saw, (c.occurred_at, c.interaction_id)) FILTER (NOT c.is_followed) AS saw
FROM instruction_checks AS c
LEFT JOIN memory_health AS h ON h.memory_id = c.memory_id
WHERE
    coalesce(h.project, '') LIKE $project ESCAPE '\'
    AND (h.agent LIKE $agent ESCAPE '\' OR coalesce(h.agent, '') = '')
    AND coalesce(h.user_id, '') LIKE $user ESCAPE '\'
    AND ($tag = '%' OR len(list_filter(h.tags, lambda tag: tag LIKE $tag ESCAPE '\')) > 0)
GROUP BY c.memory_id, h.project, h.status, c.check_kind, c.expected
ORDER BY followed_share, checked_count DESC, c.memory_id, c.check_kind, c.expected
