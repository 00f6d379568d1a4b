-- severity: fail
-- Every active memory with a text is behind exactly one observation, as proof or as an earlier state, and no other is.
SELECT coalesce(h.memory_id, o.memory_id) AS memory_id, h.status, o.observations
FROM (
    SELECT memory_id, status
    FROM memory_health
    WHERE status = 'active' AND regexp_matches(content, '\S')
) AS h
FULL JOIN (
    SELECT memory_id, count(*) AS observations
    FROM (SELECT unnest(list_concat(memory_ids, supersedes)) AS memory_id FROM observations)
    GROUP BY memory_id
) AS o USING (memory_id)
WHERE h.memory_id IS NULL OR o.observations IS DISTINCT FROM 1
