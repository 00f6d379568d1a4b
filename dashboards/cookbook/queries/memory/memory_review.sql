-- question: Which decisions about one memory does a person have to make?
-- columns: rank – place in the queue; kind – harmful, ignored, contradiction, outdated, expiring, candidate, merge, doubtful,
--   fading or unused; reason – why it needs one; text – what to read; item_id – as `slowwave review` takes it
-- params: memory_id
SELECT rank, kind, reason, text, item_id
FROM review_queue
WHERE list_contains(memory_ids, $memory_id) OR item_id = $memory_id OR target_memory_id = $memory_id
ORDER BY rank
