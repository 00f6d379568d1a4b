-- severity: fail
-- Every active memory with a text is behind exactly one observation, as proof or as an earlier state, and no other is.
-- Only where an active memory takes something back may it, and what it takes back, be behind none.
SELECT coalesce(h.memory_id, o.memory_id) AS memory_id, h.status, o.observations
FROM (
    SELECT
        memory_id,
        status,
        bool_or(regexp_matches(content, '(?i)\b(forget|scratch|retract|disregard|never mind|(delete|remove) the memory)\b'))
            OVER (PARTITION BY project) AS is_taken_back
    FROM memory_health
    WHERE status = 'active' AND regexp_matches(content, '[^\p{Z}\p{Cc}\p{Cf}]')
) AS h
FULL JOIN (
    SELECT memory_id, count(*) AS observations
    FROM (SELECT unnest(list_concat(memory_ids, supersedes)) AS memory_id FROM observations)
    GROUP BY memory_id
) AS o USING (memory_id)
WHERE h.memory_id IS NULL OR coalesce(o.observations, if(h.is_taken_back, 1, 0)) <> 1
