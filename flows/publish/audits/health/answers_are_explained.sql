-- severity: fail
-- Answers rest on rows that are published; nothing is answered of nothing, or left unanswered without saying what lacks.
WITH counted AS (
    SELECT project, rows_count AS interactions, 0 AS tried FROM landed_days WHERE landed_table = 'interactions'
    UNION ALL
    SELECT project, 0 AS interactions, 1 AS tried FROM counted_outcomes WHERE is_learned
),
found AS (
    SELECT 'all' AS extent, '' AS project, sum(interactions) AS interactions, sum(tried) AS tried FROM counted HAVING count(*) > 0
    UNION ALL
    SELECT 'project' AS extent, project, sum(interactions) AS interactions, sum(tried) AS tried FROM counted GROUP BY project
)
SELECT extent, project, a.question, a.rests_on_count
FROM answerable_questions AS a
FULL JOIN found USING (extent, project)
WHERE
    a.question IS NULL
    OR CASE a.question
        WHEN 'works' THEN a.rests_on_count <> coalesce(tried, 0)
        WHEN 'help' THEN a.rests_on_count > coalesce(interactions, 0)
        ELSE a.rests_on_count <> coalesce(interactions, 0)
    END
    OR (a.is_answered AND a.rests_on_count = 0)
    OR (NOT a.is_answered AND a.lacks IS NULL)
