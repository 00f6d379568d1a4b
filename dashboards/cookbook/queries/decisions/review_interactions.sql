-- question: Which interactions stand behind one item of the review queue?
-- columns: interaction_id – the interaction; occurred_at (UTC) – when; session_id – its session, NULL is none; in_prompt –
--   of a candidate: its prompt said it already; success – how its latest attempt ended, NULL is none; basis – how that is
--   known: reported, evaluated or inferred
-- params: item_id
-- Of a candidate those that state it or are its source, of memories those that had or referenced one of them: as many
-- as the item's count says.
WITH behind AS (
    SELECT interaction_id, occurred_at, session_id, in_prompt
    FROM review_statements
    WHERE item_id = $item_id
    UNION ALL
    SELECT DISTINCT r.interaction_id, r.occurred_at, r.session_id, false
    FROM (
        SELECT unnest(memory_ids) AS memory_id
        FROM review_queue
        WHERE item_id = $item_id AND kind <> 'candidate'
    )
    JOIN memory_references AS r USING (memory_id)
    WHERE r.is_injected OR r.is_echoed OR r.is_used
)
SELECT b.interaction_id, b.occurred_at, b.session_id, b.in_prompt, o.success, o.basis
FROM behind AS b
LEFT JOIN counted_outcomes AS o ON o.interaction_id = b.interaction_id AND o.is_deciding
ORDER BY b.occurred_at DESC, b.interaction_id
