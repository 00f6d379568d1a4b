-- question: What needs a decision by a person, and why?
-- columns: rank – place in the queue; kind – harmful, contradiction, outdated, expiring, candidate, merge, doubtful,
--   fading or unused; project – its project; user_id – the user whose alone it is, null is: the project's;
--   memory_type – of the memory it is or would be; text – what to read; sessions – that state it, or had its memories;
--   interactions – in them; in_prompt – of them those whose prompt said it already; succeeded – of them those whose
--   latest attempt succeeded; failed – those whose latest attempt failed; last_seen_at (UTC) – last of them;
--   reason – why it needs one; item_id – as `slowwave review` takes it
-- params: item_id=%; kind=%; project=%
SELECT
    rank, kind, project, user_id, memory_type, text, sessions_count AS sessions, interactions_count AS interactions,
    in_prompt_count AS in_prompt, succeeded_count AS succeeded, failed_count AS failed, last_seen_at, reason, item_id
FROM review_queue
WHERE
    project LIKE $project ESCAPE '\'
    AND kind LIKE $kind ESCAPE '\'
    AND item_id LIKE $item_id ESCAPE '\'
ORDER BY rank
