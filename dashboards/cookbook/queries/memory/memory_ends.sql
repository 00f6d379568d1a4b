-- question: How did the interactions end that quoted or used one memory, and how is that known?
-- columns: basis – reported, evaluated or inferred; basis_method – what graded or inferred it, NULL is not said; is_counted
--   – it decides how its interaction ended, else it was inferred and counts for nothing; succeeded (outcomes) – so many;
--   failed (outcomes) – so many
-- params: memory_id
SELECT
    o.basis,
    o.basis_method,
    o.is_counted,
    count(*) FILTER (o.success) AS succeeded,
    count(*) FILTER (NOT o.success) AS failed
FROM memory_references AS r
JOIN counted_outcomes AS o USING (interaction_id)
WHERE
    r.memory_id = $memory_id
    AND (r.is_echoed OR r.is_used)
    AND (o.is_deciding OR (o.is_attempt AND NOT o.is_counted))
GROUP BY o.basis, o.basis_method, o.is_counted
ORDER BY o.is_counted DESC, list_position(['reported', 'evaluated', 'inferred'], o.basis), o.basis_method
