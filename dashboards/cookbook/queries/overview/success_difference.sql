-- question: How much more often do attempts succeed with a memory than without, and could that be chance?
-- columns: since (UTC day) – first day of what is compared: with per=week a Monday; basis – randomised: chance decided
--   what was injected, not randomised: compared within project, agent and kind of task, not comparable: all with all;
--   difference (difference of shares) – success with a memory less success without; low (difference of shares) – lower
--   end of its 90 % interval, attempts of one session counting together; high (difference of shares) – upper end;
--   with_share (0-1) – success with a memory; without_share (0-1) – success without, in the same mixture; attempts_with
--   (attempts) – with a memory; attempts_without (attempts) – without; sessions (sessions) – that they belong to;
--   is_enough – `at_least` attempts in 5 sessions on each side, and half of all attempts at least unless chance decided
-- params: agent=%; at_least=20; per=all; project=%; since=1900-01-01; until=9999-12-31
-- Strata weighted as by Mantel & Haenszel (1959): the slope of success on having a memory with a mean for each stratum.
-- Its variance is the sandwich with a session as cluster (Liang & Zeger 1986, CR1), its reach that of Student's t.
WITH
attempts AS (
    SELECT
        CASE WHEN $per = 'week' THEN date_trunc('week', day)::DATE ELSE $since::DATE END AS since,
        *,
        has_memory::BIGINT AS had
    FROM attempts_by_injection
    WHERE
        day BETWEEN $since::DATE AND $until::DATE
        AND project LIKE $project ESCAPE '\'
        AND agent LIKE $agent ESCAPE '\'
),
compared AS (
    SELECT 1 AS place, 'randomised' AS basis, [offered_count::VARCHAR, probability::VARCHAR] AS stratum, *
    FROM attempts
    WHERE probability < 1
    UNION ALL
    SELECT 2, 'not randomised', [project, agent, task_type], * FROM attempts
    UNION ALL
    SELECT 3, 'not comparable', [], * FROM attempts
),
strata AS (
    SELECT
        since,
        place,
        stratum,
        sum(attempts)::BIGINT AS n,
        sum(attempts * had)::BIGINT AS n1,
        sum(successes)::BIGINT AS x,
        sum(successes * had)::BIGINT AS x1
    FROM compared
    GROUP BY ALL
    HAVING n1 > 0 AND n1 < n
),
fits AS (
    SELECT
        since,
        place,
        count(*) AS strata_count,
        sum(n)::BIGINT AS n,
        sum(n1)::BIGINT AS attempts_with,
        sum(n1 * (n - n1) / n ORDER BY stratum) AS weight,
        sum(x1 * (n - n1) / n ORDER BY stratum) / weight AS with_share,
        sum((x - x1) * n1 / n ORDER BY stratum) / weight AS without_share
    FROM strata
    GROUP BY ALL
),
sessions AS (
    SELECT
        since,
        place,
        basis,
        c.project,
        block,
        bool_or(has_memory) AS has_with,
        bool_or(NOT has_memory) AS has_without,
        sum(
            (had - s.n1 / s.n)
            * (successes - attempts * (s.x / s.n + (had - s.n1 / s.n) * (with_share - without_share)))
            ORDER BY stratum, had, c.day, c.agent, c.task_type, offered_count, probability
        ) AS score
    FROM compared AS c
    JOIN strata AS s USING (since, place, stratum)
    JOIN fits USING (since, place)
    GROUP BY ALL
),
errors AS (
    SELECT
        since,
        place,
        basis,
        count(*) AS sessions,
        count(*) FILTER (has_with) >= 5 AND count(*) FILTER (has_without) >= 5 AS are_enough,
        sum(score * score ORDER BY project, block) AS squares
    FROM sessions
    GROUP BY ALL
),
reaches AS (
    SELECT
        *,
        1.6448536 AS z,
        sessions - 1 AS degrees,
        -- Student's quantile as a series in 1 / degrees (Fisher & Cornish 1960)
        z + (z ** 3 + z) / (4 * degrees) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * degrees ** 2) AS t,
        CASE WHEN sessions > 1 AND n > strata_count + 1
            THEN t * sqrt(squares * sessions / degrees * (n - 1) / (n - strata_count - 1)) / weight
        END AS reach,
        with_share - without_share AS difference,
        n - attempts_with AS attempts_without
    FROM fits
    JOIN errors USING (since, place)
)
SELECT
    since,
    basis,
    difference,
    greatest(difference - reach, -1) AS low,
    least(difference + reach, 1) AS high,
    with_share,
    without_share,
    attempts_with,
    attempts_without,
    sessions,
    reach IS NOT NULL AND are_enough AND least(attempts_with, attempts_without) >= $at_least::BIGINT
        AND (
            basis <> 'not randomised'
            OR 2 * n >= max(n) OVER (PARTITION BY since)
        ) AS is_enough
FROM reaches
ORDER BY since, place
