-- question: How many active memories fade on which day, if nothing refers to any of them from now on?
-- columns: day (UTC day) – the first is that of the publish; fading_count (memories) – become forgettable at its
--   beginning, in the first row those that have already; cumulative_count (memories) – forgettable by then; active_count
--   (memories) – active at the publish, faded or not; undated_count (memories) – of these, neither pinned nor faded, and
--   no day is forecast: the log has watched no memory of their type without a reference for nearly so long
-- params: agent=%; days=90; project=%; tag=%; user=%
WITH active AS (
    SELECT fades_at, pinned, as_of
    FROM memory_health
    WHERE
        status = 'active'
        AND coalesce(project, '') LIKE $project ESCAPE '\'
        AND (agent LIKE $agent ESCAPE '\' OR coalesce(agent, '') = '')
        AND coalesce(user_id, '') LIKE $user ESCAPE '\'
        AND ($tag = '%' OR len(list_filter(tags, lambda tag: tag LIKE $tag ESCAPE '\')) > 0)
)
SELECT
    days.day::DATE AS day,
    coalesce(fading.fading_count, 0) AS fading_count,
    (sum(coalesce(fading.fading_count, 0)) OVER (ORDER BY days.day))::BIGINT AS cumulative_count,
    (
        SELECT count(*)
        FROM active
    ) AS active_count,
    (
        SELECT count(*)
        FROM active
        WHERE fades_at IS NULL AND NOT pinned
    ) AS undated_count
FROM (
    SELECT unnest(range(as_of::DATE, as_of::DATE + to_days($days::INTEGER + 1), INTERVAL 1 DAY)) AS day
    FROM (SELECT max(as_of) AS as_of FROM memory_health)
) AS days
LEFT JOIN (
    SELECT greatest(fades_at::DATE, as_of::DATE) AS day, count(*) AS fading_count
    FROM active
    WHERE fades_at IS NOT NULL
    GROUP BY ALL
) AS fading ON fading.day = days.day
ORDER BY day
