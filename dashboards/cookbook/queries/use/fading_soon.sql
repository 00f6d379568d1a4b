-- question: Which memories fade next unless they are referenced?
-- columns: memory_id – the memory; project – its project, '' is none; fades_at (UTC) – the first midnight on which its
--   strength is forgettable; days_left (days) – until then; strength (0-1) – now; half_life_days (days) – how fast it
--   fades; need_30d (probability) – at least one reference in 30 days; reference_count (interactions) – detected uses;
--   last_referenced_at (UTC) – the last of them; content – its text
-- params: days=30; project=%
SELECT
    memory_id,
    project,
    fades_at,
    date_diff('day', as_of::DATE, fades_at::DATE) AS days_left,
    strength,
    half_life_days,
    need_30d,
    reference_count,
    last_referenced_at,
    content
FROM memory_health
WHERE
    status = 'active'
    AND fades_at > as_of
    AND date_diff('day', as_of::DATE, fades_at::DATE) <= $days::BIGINT
    AND coalesce(project, '') LIKE $project ESCAPE '\'
ORDER BY fades_at, need_30d DESC NULLS LAST, memory_id
