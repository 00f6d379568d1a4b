-- question: What got worse this week: which memories in their use, which strategies in their attempts?
-- columns: kind – memory, strategy or anti-pattern; project – its project, '' is none; agent – of a strategy, whose it is,
--   NULL of a memory; task_type – at which kind of task, likewise; what – what it became; day (UTC day) – on which that was seen, of a strategy that of its last attempt; detail – what it was before and when, or the figures; text – what the memory or strategy
--   says; id – for `slowwave why`
-- params: days=7; project=%
-- Of memories that are active and still as bad, and of their use alone: text, confidence and lift are not compared.
-- A memory's trend, band and verdict on use are known for the days on which its counts or state changed, so that the day may
-- come after the change itself; what faded with no news is dated exactly. Strategies are weakening by their last 28
-- days, however many days are asked for.
WITH
publish AS (SELECT max(as_of) AS as_of, (max(as_of) - to_days($days::INTEGER))::DATE AS first_day FROM memory_health),
asked AS (
    SELECT memory_id, project, content, strength_state, trend, verdict, fades_at, last_referenced_at, as_of
    FROM memory_health
    WHERE status = 'active' AND coalesce(project, '') LIKE $project ESCAPE '\'
),
bad AS (
    SELECT memory_id
    FROM asked
    WHERE strength_state IN ('weak', 'forgettable') OR trend IN ('weakening', 'stale') OR verdict IN ('forget', 'review')
),
recent AS (
    SELECT memory_id, day, strength_state, trend, use_verdict
    FROM memory_health_history
    WHERE day >= (SELECT first_day FROM publish) AND memory_id IN (SELECT memory_id FROM bad)
),
earlier AS (
    SELECT
        memory_id,
        arg_max({'day': day, 'strength_state': strength_state, 'trend': trend, 'use_verdict': use_verdict}, day) AS last
    FROM memory_health_history
    WHERE day < (SELECT first_day FROM publish) AND memory_id IN (SELECT memory_id FROM recent)
    GROUP BY memory_id
),
told AS (
    SELECT *
    FROM recent
    UNION ALL
    SELECT memory_id, last.day, last.strength_state, last.trend, last.use_verdict
    FROM earlier
),
steps AS (
    SELECT
        *,
        lag(day) OVER days AS day_before,
        lag(strength_state) OVER days AS strength_state_before,
        lag(trend) OVER days AS trend_before,
        lag(use_verdict) OVER days AS use_verdict_before
    FROM told
    WINDOW days AS (PARTITION BY memory_id ORDER BY day)
),
became AS (
    SELECT memory_id, day, day_before, strength_state AS what, strength_state_before AS was, 1 AS place
    FROM steps
    WHERE
        strength_state IN ('weak', 'forgettable')
        AND list_position(['strong', 'normal', 'weak', 'forgettable'], strength_state_before)
        < list_position(['strong', 'normal', 'weak', 'forgettable'], strength_state)
    UNION ALL
    SELECT memory_id, day, day_before, trend, trend_before, 2
    FROM steps
    WHERE trend IN ('weakening', 'stale') AND trend_before <> trend
    UNION ALL
    SELECT memory_id, day, day_before, 'verdict ' || use_verdict, use_verdict_before, 3
    FROM steps
    WHERE use_verdict IN ('forget', 'review') AND use_verdict_before <> use_verdict
),
worse AS (
    SELECT
        'memory' AS kind,
        a.project,
        NULL AS agent,
        NULL AS task_type,
        b.what,
        max(b.day) AS day,
        arg_max(b.was || ' on ' || b.day_before, b.day) AS detail,
        a.content AS text,
        a.memory_id AS id,
        min(b.place) AS place
    FROM became AS b
    JOIN asked AS a ON a.memory_id = b.memory_id AND b.what IN (a.strength_state, a.trend, 'verdict ' || a.verdict)
    WHERE b.day >= (SELECT first_day FROM publish)
    GROUP BY a.memory_id, a.project, a.content, b.what
    UNION ALL
    SELECT 'memory', project, NULL, NULL, 'forgettable', fades_at::DATE, coalesce('not referenced since ' || last_referenced_at::DATE, 'never referenced'), content, memory_id, 0
    FROM asked
    WHERE fades_at <= as_of AND fades_at::DATE >= (SELECT first_day FROM publish)
    UNION ALL
    SELECT
        'strategy',
        project,
        agent,
        task_type,
        'weakening',
        last_validated_at::DATE,
        format('{} of {} attempts ever succeeded; {:.2f} estimated for the next, from its relatives too', successes, attempts, confidence),
        strategy,
        strategy_id,
        4
    FROM heuristics
    WHERE trend = 'weakening' AND project LIKE $project ESCAPE '\'
    UNION ALL
    SELECT
        'anti-pattern',
        project,
        agent,
        task_type,
        if(first_seen_at::DATE >= (SELECT first_day FROM publish), 'fails since', 'keeps failing'),
        last_seen_at::DATE,
        why_bad,
        pattern,
        strategy_id,
        5
    FROM anti_patterns
    WHERE
        kind = 'avoid'
        AND state = 'open'
        AND last_seen_at::DATE >= (SELECT first_day FROM publish)
        AND project LIKE $project ESCAPE '\'
)
SELECT kind, project, agent, task_type, what, day, detail, text, id
FROM worse
QUALIFY place = min(place) OVER (PARTITION BY kind, what, id)
ORDER BY list_position(['anti-pattern', 'strategy', 'memory'], kind), place, day DESC, project, id, agent, task_type
