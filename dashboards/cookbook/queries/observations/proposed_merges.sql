-- question: Which memories may be one, likeliest first, and what differs between them?
-- columns: rank – place in the review queue; project – its project, '' is none; memory_ids – the memories, the one to keep
--   first; text – what they say, what only one of them says in brackets; reason – why they are proposed; method – who
--   proposes it; item_id – as `slowwave review` takes it
-- params: project=%; limit=20
-- `slowwave review merge ITEM_ID` lets one stand for the others, `slowwave review reject ITEM_ID` keeps all.
SELECT rank, project, memory_ids, text, reason, method, item_id
FROM review_queue
WHERE kind = 'merge' AND project LIKE $project ESCAPE '\'
ORDER BY rank
LIMIT $limit::BIGINT
