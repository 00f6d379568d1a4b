-- question: Which statements of answers look worth remembering, and what speaks for them?
-- columns: rank – place in the review queue; project – its project, '' is none; user_id – the one user whose interactions
--   state it, null is: the project's; memory_type – what it would be; text – the statement; sessions – that state it;
--   rules – what found it; reason – the evidence, with what speaks against it; item_id – as `slowwave review` takes it
-- params: project=%; limit=20
-- `slowwave review promote ITEM_ID` takes one into use, of one user for that user alone unless `--scope project` is said;
-- `slowwave review reject ITEM_ID` keeps it out for good.
SELECT rank, project, user_id, memory_type, text, sessions_count AS sessions, rules, reason, item_id
FROM review_queue
WHERE kind = 'candidate' AND project LIKE $project ESCAPE '\'
ORDER BY rank
LIMIT $limit::BIGINT
