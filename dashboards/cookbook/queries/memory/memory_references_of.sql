-- question: Which interactions stand behind each count of one memory?
-- columns: occurred_at (UTC) – when; interaction_id – the interaction; project – its project, '' is none; agent – who;
--   session_id – its session; is_injected – it was given the memory; is_echoed – the answer quotes its first words;
--   in_prompt – the prompt held the same words already, NULL is not quoted; is_used – the answer uses it in other
--   words; used_score (0-1) – estimated probability of that, NULL below the threshold; passage – what of a
--   long memory was found, NULL is all of it, or not used; is_cited – the answer names the memory itself;
--   is_followed – the answer does what the memory says, NULL: no check can tell; saw – what the checks saw; success – of its latest attempt, NULL is none known;
--   basis – how that is known: reported, evaluated or inferred; outcome_id – that attempt's outcome; apart_success – of
--   its latest outcome that was inferred and counts for nothing, NULL is none; methods – what found it
-- params: memory_id; counted=; limit=50; offset=0; since=1900-01-01; until=9999-12-31
-- `counted` chooses the count: injected, echoed (quoted), used, cited, followed, not followed, referenced, confirmed or
-- contradicted; '' is all.
-- `since` and `until` are days, both included. `memory_interactions` has the texts, where the lake can be read.
SELECT
    r.occurred_at,
    r.interaction_id,
    r.project,
    r.agent,
    r.session_id,
    r.is_injected,
    r.is_echoed,
    r.in_prompt,
    r.is_used,
    r.used_score,
    r.passage,
    r.is_cited,
    c.is_followed,
    c.saw,
    o.success,
    o.basis,
    o.outcome_id,
    a.success AS apart_success,
    r.methods
FROM memory_references AS r
LEFT JOIN counted_outcomes AS o ON o.interaction_id = r.interaction_id AND o.is_deciding
LEFT JOIN (
    SELECT interaction_id, arg_max(success, {'at': created_at, 'id': outcome_id}) AS success
    FROM counted_outcomes
    WHERE is_attempt AND NOT is_counted
    GROUP BY interaction_id
) AS a ON a.interaction_id = r.interaction_id
LEFT JOIN (
    SELECT interaction_id, bool_and(is_followed) AS is_followed, string_agg(saw, '; ' ORDER BY is_followed, expected) AS saw
    FROM instruction_checks
    WHERE memory_id = $memory_id
    GROUP BY interaction_id
) AS c ON c.interaction_id = r.interaction_id
WHERE
    r.memory_id = $memory_id
    AND r.occurred_at >= $since::DATE AND r.occurred_at < $until::DATE::TIMESTAMP + INTERVAL 1 DAY
    AND CASE $counted
        WHEN 'injected' THEN r.is_injected
        WHEN 'echoed' THEN r.is_echoed
        WHEN 'used' THEN r.is_used
        WHEN 'cited' THEN r.is_cited
        WHEN 'followed' THEN c.is_followed
        WHEN 'not followed' THEN NOT c.is_followed
        WHEN 'referenced' THEN r.is_echoed OR r.is_used
        WHEN 'confirmed' THEN (r.is_echoed OR r.is_used) AND o.success
        WHEN 'contradicted' THEN (r.is_echoed OR r.is_used) AND NOT o.success
        ELSE $counted = ''
    END
ORDER BY r.occurred_at DESC, r.interaction_id
LIMIT $limit::BIGINT OFFSET $offset::BIGINT
