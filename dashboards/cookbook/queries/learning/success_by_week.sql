-- question: Does success rise or fall from week to week: over real attempts, not over raw rows?
-- columns: week (UTC) – its Monday; is_complete – it had ended before the publish's as_of; project – the project; attempts – real attempts, reported or evaluated; success_rate
--   (0-1) – of them; inferred (attempts) – of them known by inference alone, 0 unless params learn from that; apart
--   (attempts) – inferred, and not counted; apart_rate (0-1) – of these; outcomes – all rows known, skips and
--   cascades too; raw_rate (0-1) – what counting them all would say
-- params: agent=%; project=%; since=1900-01-01; until=9999-12-31; user=%
-- `since` and `until` are days; the weeks of both are included whole.
SELECT
    date_trunc('week', created_at)::DATE AS week,
    date_trunc('week', created_at)::DATE + 7 <= any_value(as_of)::DATE AS is_complete,
    project,
    count(*) FILTER (is_counted) AS attempts,
    count(*) FILTER (is_counted AND success) / nullif(attempts, 0) AS success_rate,
    count(*) FILTER (is_counted AND basis = 'inferred') AS inferred,
    count(*) FILTER (is_attempt AND NOT is_counted) AS apart,
    count(*) FILTER (is_attempt AND NOT is_counted AND success) / nullif(apart, 0) AS apart_rate,
    count(*) AS outcomes,
    count(*) FILTER (success) / outcomes AS raw_rate
FROM counted_outcomes
WHERE
    created_at >= date_trunc('week', $since::DATE)
    AND created_at < date_trunc('week', $until::DATE)::TIMESTAMP + INTERVAL 7 DAY
    AND project LIKE $project ESCAPE '\'
    AND agent LIKE $agent ESCAPE '\'
    AND coalesce(user_id, '') LIKE $user ESCAPE '\'
GROUP BY week, project
ORDER BY week DESC, project
