-- question: What is new since the publish before this one, and for which memories did state or use change?
-- columns: since_at (UTC) – as_of of the last nightly publish as of an earlier time, without one so many hours before this one;
--   topic – use, memories, strategies, anti-patterns, hard tasks, observations, review, decisions or curation; what – what became of
--   them; count (items) – so many: interactions, memories, strategies and so on; example_id – the latest of them; example
--   (first 200 characters) – what it says
-- params: project=%; hours=24; dormant_days=30
-- By when things happened: what was delivered late is not in it. The history of memories (status, trend,
-- verdict on use) is kept by whole days, that of `since_at` included. What did not change has no row, but use has one. Text,
-- confidence and lift are not compared. `dormant_days` is that of the params: as long without an attempt, an
-- anti-pattern is dormant. Texts of memories are looked up in the end, of those that are shown.
WITH
this AS (SELECT max(as_of) AS as_of FROM memory_health),
since AS (
    SELECT
        coalesce(
            (
                SELECT max(runs.as_of)
                FROM runs, this
                WHERE runs.kind = 'nightly' AND runs.status IN ('published', 'published_incomplete') AND runs.as_of < this.as_of
            ),
            (SELECT as_of - to_hours($hours::INTEGER) FROM this)
        ) AS since_at
),
asked AS (FROM memory_health WHERE coalesce(project, '') LIKE $project ESCAPE '\'),
recent AS (
    SELECT memory_id, day, status, trend, use_verdict
    FROM memory_health_history
    WHERE day >= (SELECT since_at::DATE FROM since)
),
before AS (
    SELECT memory_id, arg_max({'status': status, 'trend': trend, 'use_verdict': use_verdict}, day) AS was
    FROM memory_health_history
    WHERE day < (SELECT since_at::DATE FROM since) AND memory_id IN (SELECT memory_id FROM recent)
    GROUP BY memory_id
),
became AS (
    SELECT memory_id, before.was, arg_max({'status': r.status, 'trend': r.trend, 'use_verdict': r.use_verdict}, r.day) AS is_now
    FROM recent AS r
    JOIN before USING (memory_id)
    GROUP BY memory_id, before.was
),
news AS (
    SELECT 2 AS place, 'memories' AS topic, 'new, ' || status AS what, created_at AS happened, memory_id AS id, NULL AS text
    FROM asked
    WHERE created_at >= (SELECT since_at FROM since)
    UNION ALL
    SELECT 3, 'memories', 'became ' || b.is_now.status, a.as_of, memory_id, NULL
    FROM became AS b
    JOIN asked AS a USING (memory_id)
    WHERE b.is_now.status <> b.was.status
    UNION ALL
    SELECT 4, 'memories', 'marked ' || b.is_now.use_verdict, a.as_of, memory_id, NULL
    FROM became AS b
    JOIN asked AS a USING (memory_id)
    WHERE b.is_now.use_verdict <> b.was.use_verdict AND a.status = 'active'
    UNION ALL
    SELECT 5, 'memories', 'trend became ' || b.is_now.trend, a.as_of, memory_id, NULL
    FROM became AS b
    JOIN asked AS a USING (memory_id)
    WHERE b.is_now.trend <> b.was.trend AND a.status = 'active'
    UNION ALL
    SELECT 6, 'memories', 'faded', fades_at, memory_id, NULL
    FROM asked
    WHERE status = 'active' AND fades_at <= as_of AND fades_at > (SELECT since_at FROM since)
    UNION ALL
    SELECT 7, 'memories', 'first reference', first_referenced_at, memory_id, NULL
    FROM asked
    WHERE first_referenced_at >= (SELECT since_at FROM since)
    UNION ALL
    SELECT
        8,
        if(kind = 'avoid', 'anti-patterns', 'hard tasks'),
        if(first_seen_at >= (SELECT since_at FROM since), 'failed for the first time', 'failed again') || ', ' || state,
        last_seen_at,
        strategy_id,
        pattern
    FROM anti_patterns
    WHERE last_seen_at >= (SELECT since_at FROM since) AND project LIKE $project ESCAPE '\'
    UNION ALL
    SELECT
        8,
        if(a.kind = 'avoid', 'anti-patterns', 'hard tasks'),
        'became dormant, not tried lately',
        h.last_validated_at + to_days($dormant_days::INTEGER),
        strategy_id,
        a.pattern
    FROM anti_patterns AS a
    JOIN heuristics AS h USING (project, agent, task_type, strategy_id)
    WHERE
        a.state = 'dormant'
        AND h.last_validated_at >= (SELECT since_at FROM since) - to_days($dormant_days::INTEGER)
        AND project LIKE $project ESCAPE '\'
    UNION ALL
    SELECT 9, 'strategies', 'first attempt', first_seen_at, strategy_id, strategy
    FROM heuristics
    WHERE first_seen_at >= (SELECT since_at FROM since) AND project LIKE $project ESCAPE '\'
    UNION ALL
    SELECT 10, 'observations', 'one more source', list_max(source_times), observation_id, text
    FROM observations
    WHERE list_max(source_times) >= (SELECT since_at FROM since) AND project LIKE $project ESCAPE '\'
    UNION ALL
    SELECT 11, 'review', 'new to review: ' || kind, first_seen_at, item_id, text
    FROM review_queue
    WHERE first_seen_at >= (SELECT since_at FROM since) AND project LIKE $project ESCAPE '\'
    UNION ALL
    SELECT 12, 'decisions', 'review: ' || action, decided_at, item_id, text
    FROM review_decisions
    WHERE decided_at >= (SELECT since_at FROM since) AND project LIKE $project ESCAPE '\'
    UNION ALL
    SELECT 13, 'decisions', 'forget: ' || action, decided_at, target, reason
    FROM forgetting_audit AS f
    LEFT JOIN memory_health AS h ON f.target_kind = 'memory' AND f.target = h.memory_id
    WHERE
        decided_at >= (SELECT since_at FROM since)
        AND if(f.target_kind = 'project', f.target, coalesce(h.project, '')) LIKE $project ESCAPE '\'
    UNION ALL
    SELECT 14, 'curation', 'would ' || action, changed_at, memory_id, content
    FROM curation_decisions
    WHERE action <> 'add' AND changed_at >= (SELECT since_at FROM since) AND project LIKE $project ESCAPE '\'
    UNION ALL
    SELECT DISTINCT 1, 'use', 'interactions given a memory', occurred_at, interaction_id, NULL
    FROM memory_references
    WHERE is_injected AND occurred_at >= (SELECT since_at FROM since) AND project LIKE $project ESCAPE '\'
),
counted AS (
    SELECT place, topic, what, count(*) AS count, arg_max({'id': id, 'text': text}, (happened, id)) AS latest
    FROM news
    GROUP BY place, topic, what
    UNION ALL
    SELECT
        0,
        'use',
        'interactions that quoted a memory or used it in other words',
        count(DISTINCT interaction_id) AS count,
        arg_max({'id': interaction_id, 'text': NULL}, (occurred_at, interaction_id))
    FROM memory_references
    WHERE
        (is_echoed OR is_used)
        AND occurred_at >= (SELECT since_at FROM since)
        AND project LIKE $project ESCAPE '\'
)
SELECT
    (SELECT since_at FROM since) AS since_at,
    topic,
    what,
    count,
    latest.id AS example_id,
    left(coalesce(latest.text, m.content), 200) AS example
FROM counted AS c
LEFT JOIN memory_health AS m ON c.topic = 'memories' AND m.memory_id = c.latest.id
ORDER BY place, count DESC, what
