-- severity: fail
-- use_by_day has the injected tokens of memory_health, and no more interactions with a memory than landed.
SELECT 'tokens' AS what, NULL AS day, NULL AS project, d.injected, h.injected AS found, d.unused, h.unused AS found_unused
FROM (
    SELECT coalesce(sum(injected_tokens), 0) AS injected, coalesce(sum(unused_tokens), 0) AS unused
    FROM use_by_day
) AS d,
(
    SELECT
        coalesce(sum(injected_count * ceil(length(content) / 4)::BIGINT), 0) AS injected,
        coalesce(sum(injected_count * ceil(length(content) / 4)::BIGINT) FILTER (use_state = 'not_used'), 0) AS unused
    FROM memory_health
) AS h
WHERE d.injected <> h.injected OR d.unused <> h.unused
UNION ALL
SELECT 'interactions', d.day, d.project, d.injected_interactions, l.landed, d.referencing_interactions, NULL
FROM use_by_day AS d
LEFT JOIN (
    SELECT day, sum(rows_count) AS landed
    FROM landed_days
    WHERE landed_table = 'interactions'
    GROUP BY day
) AS l USING (day)
WHERE
    greatest(d.injected_interactions, d.referencing_interactions, d.citing_interactions) NOT BETWEEN 1 AND coalesce(l.landed, 0)
    OR d.referencing_interactions NOT BETWEEN greatest(d.echoing_interactions, d.using_interactions)
    AND d.echoing_interactions + d.using_interactions
    OR d.parroting_interactions NOT BETWEEN 0 AND d.echoing_interactions
    OR d.unused_tokens NOT BETWEEN 0 AND d.injected_tokens
