-- severity: fail
-- An instruction is followed and not followed in as many interactions as its rows in instruction_checks say.
SELECT h.memory_id, h.followed_count, h.not_followed_count, c.followed, c.checked
FROM memory_health AS h
FULL JOIN (
    SELECT memory_id, count(*) FILTER (is_followed) AS followed, count(*) AS checked
    FROM (
        SELECT memory_id, interaction_id, bool_and(is_followed) AS is_followed
        FROM instruction_checks
        GROUP BY memory_id, interaction_id
    )
    GROUP BY memory_id
) AS c USING (memory_id)
WHERE
    h.followed_count IS DISTINCT FROM coalesce(c.followed, 0)
    OR h.not_followed_count IS DISTINCT FROM coalesce(c.checked - c.followed, 0)
    OR (h.followed_low IS NULL) <> (c.checked IS NULL)
    OR h.followed_low > h.followed_high
