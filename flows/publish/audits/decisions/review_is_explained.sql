-- severity: fail
-- Every count of review_queue is that of the interactions behind it, and its ranks are 1, 2, 3, ...
WITH behind AS (
    SELECT item_id, interaction_id, session_id, in_prompt
    FROM review_statements
    UNION ALL
    SELECT DISTINCT q.item_id, r.interaction_id, r.session_id, false
    FROM (SELECT item_id, unnest(memory_ids) AS memory_id FROM review_queue WHERE kind <> 'candidate') AS q
    JOIN memory_references AS r USING (memory_id)
    WHERE r.is_injected OR r.is_echoed OR r.is_used
),
counted AS (
    SELECT
        b.item_id,
        count(*) AS interactions_count,
        count(DISTINCT coalesce('s' || b.session_id, 'i' || b.interaction_id)) AS sessions_count,
        count(*) FILTER (b.in_prompt) AS in_prompt_count,
        count(*) FILTER (o.success) AS succeeded_count,
        count(*) FILTER (NOT o.success) AS failed_count,
        count(DISTINCT coalesce('s' || b.session_id, 'i' || b.interaction_id)) FILTER (NOT b.in_prompt) AS rank_score
    FROM behind AS b
    LEFT JOIN counted_outcomes AS o ON o.interaction_id = b.interaction_id AND o.is_deciding
    GROUP BY b.item_id
)
SELECT item_id, q.interactions_count, c.interactions_count AS found
FROM review_queue AS q
FULL JOIN counted AS c USING (item_id)
WHERE
    q.item_id IS NULL
    OR q.interactions_count <> coalesce(c.interactions_count, 0)
    OR q.sessions_count <> coalesce(c.sessions_count, 0)
    OR q.in_prompt_count <> coalesce(c.in_prompt_count, 0)
    OR q.succeeded_count <> coalesce(c.succeeded_count, 0)
    OR q.failed_count <> coalesce(c.failed_count, 0)
    OR q.rank_score <> coalesce(c.rank_score, 0)
UNION ALL
SELECT item_id, rank, place
FROM (SELECT item_id, rank, row_number() OVER (ORDER BY rank) AS place FROM review_queue)
WHERE rank <> place
