-- question: Do the memories help: all together, those of each project, and each one?
-- columns: scope – all, project or memory; project – the project, or that of the memory; memory_id – the memory;
--   comparison – injected or left out: by a draw, with or without: within the same task and week; claim – helps or harms:
--   wrong in at most one case of twenty however often one looks, associated: not randomised, cannot be told; estimate
--   (difference of shares) – success with less without, of a memory drawn towards the others; low (difference of
--   shares) – lower end of its own 90 % interval; high (difference of shares) – upper end; detectable (difference of
--   shares) – smallest effect that a look would show; with_count (interactions) – compared that had it; without_count
--   (interactions) – that had not; least_sessions (sessions) – of the side with fewer; basis – randomised, within task
--   or none; content – the memory's text
-- params: claim=%; comparison=%; project=%; scope=%
WITH
named AS (
    SELECT
        e.*,
        CASE e.scope WHEN 'project' THEN e.scope_id WHEN 'memory' THEN coalesce(h.project, '') END AS project,
        CASE e.scope WHEN 'memory' THEN e.scope_id END AS memory_id,
        h.content
    FROM effects AS e
    LEFT JOIN memory_health AS h ON e.scope = 'memory' AND e.scope_id = h.memory_id
)
SELECT
    scope,
    project,
    memory_id,
    comparison,
    claim,
    estimate,
    low,
    high,
    detectable,
    with_count,
    without_count,
    least_sessions,
    basis,
    content
FROM named
WHERE
    scope LIKE $scope ESCAPE '\'
    AND comparison LIKE $comparison ESCAPE '\'
    AND claim LIKE $claim ESCAPE '\'
    AND coalesce(project, '') LIKE $project ESCAPE '\'
ORDER BY
    CASE scope WHEN 'all' THEN 1 WHEN 'project' THEN 2 ELSE 3 END,
    claim NOT IN ('helps', 'harms'),
    comparison,
    abs(estimate) DESC NULLS LAST,
    project,
    memory_id
