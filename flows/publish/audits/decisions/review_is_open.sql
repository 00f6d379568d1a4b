-- severity: fail
-- What waits for review is not settled: its memories exist, a candidate is in use nowhere, the others are in use.
WITH about AS (
    SELECT item_id, kind, unnest(memory_ids) AS memory_id
    FROM review_queue
)
SELECT a.item_id, a.memory_id, h.status AS found
FROM about AS a
LEFT JOIN memory_health AS h USING (memory_id)
WHERE h.status IS DISTINCT FROM (CASE a.kind WHEN 'candidate' THEN 'candidate' ELSE 'active' END)
UNION ALL
SELECT q.item_id, h.memory_id, 'says the same'
FROM review_queue AS q
JOIN memory_health AS h ON h.project = q.project AND h.content = q.text
WHERE q.kind = 'candidate' AND len(q.memory_ids) = 0 AND (h.user_id IS NULL OR h.user_id = q.user_id)
UNION ALL
SELECT q.item_id, h.memory_id, 'is that candidate'
FROM review_queue AS q
JOIN memory_health AS h ON h.memory_id = q.item_id
UNION ALL
SELECT q.item_id, d.decision_id, 'decided'
FROM review_queue AS q
JOIN review_decisions AS d USING (item_id, fingerprint)
WHERE q.kind <> 'candidate'
