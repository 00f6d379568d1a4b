-- question: What needs a decision by a person, and why?
-- columns: rank – place among all; kind – harmful, ignored, contradiction, outdated, expiring, candidate, merge, doubtful,
--   fading or unused; project – its project; user_id – the user whose alone it is, null is: the project's;
--   memory_type – of the memory it is or would be; text – what to read; sessions – that state it, or had its memories;
--   interactions – in them; in_prompt – of them those whose prompt said it already; succeeded – of them those whose
--   latest attempt succeeded; failed – those whose latest attempt failed; last_seen_at (UTC) – last of them;
--   reason – why it needs one; memory_ids – the memories it is about; item_id – as `slowwave review` takes it
-- params: agent=%; item_id=%; kind=%; project=%; since=; tag=%; until=; user=%
-- What costs most to leave comes first: harm, then instructions that are ignored, then the others by evidence.
-- With `since` or `until` (days, both included) those last seen on these days; with `agent` or `tag` those about a memory
-- of that agent, or with that tag.
SELECT
    rank, kind, project, user_id, memory_type, text, sessions_count AS sessions, interactions_count AS interactions,
    in_prompt_count AS in_prompt, succeeded_count AS succeeded, failed_count AS failed, last_seen_at, reason,
    memory_ids, item_id
FROM review_queue
WHERE
    project LIKE $project ESCAPE '\'
    AND kind LIKE $kind ESCAPE '\'
    AND item_id LIKE $item_id ESCAPE '\'
    AND coalesce(user_id, '') LIKE $user ESCAPE '\'
    AND ($since = '' OR last_seen_at >= nullif($since, '')::DATE)
    AND ($until = '' OR last_seen_at < nullif($until, '')::DATE::TIMESTAMP + INTERVAL 1 DAY)
    AND (
        ($agent = '%' AND $tag = '%')
        OR item_id IN (
            SELECT o.item_id
            FROM (SELECT item_id, unnest(memory_ids) AS memory_id FROM review_queue) AS o
            JOIN memory_health AS h USING (memory_id)
            WHERE
                (h.agent LIKE $agent ESCAPE '\' OR coalesce(h.agent, '') = '')
                AND ($tag = '%' OR len(list_filter(h.tags, lambda tag: tag LIKE $tag ESCAPE '\')) > 0)
        )
    )
ORDER BY rank
