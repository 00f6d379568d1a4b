-- question: Which memories is one item of the review queue about?
-- columns: memory_id – the memory, as the item lists them; project – its project, '' is none; memory_type – its type;
--   status – its state; verdict – keep, review, forget, harmful, unproven or inactive; reference_count (interactions) –
--   detected uses; content – its text
-- params: item_id
-- A candidate that stands in answers alone has none.
SELECT memory_id, h.project, h.memory_type, h.status, h.verdict, h.reference_count, h.content
FROM (
    SELECT unnest(memory_ids) AS memory_id, unnest(range(len(memory_ids))) AS place
    FROM review_queue
    WHERE item_id = $item_id
)
JOIN memory_health AS h USING (memory_id)
ORDER BY place
