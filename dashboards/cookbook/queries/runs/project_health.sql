-- question: How is the memory of each project doing?
-- columns: project – the project, '' is none; health – critical, warning, healthy, or unknown: hardly used;
--   alarms_count (alarms) – what is wrong: `alarms`; active_count (memories) – in use; candidate_count (memories) –
--   waiting for a decision; reference_count (interactions) – detected uses, a minimum; used_expected (interactions) – uses
--   in other words that are expected; mean_strength (0-1) – of
--   active memories; junk_share (0-1) – invalid, to forget, or hardly any text; duplicate_share (0-1) – same text as
--   another; stale_share (0-1) – used once, stale now; never_eligible_share (0-1) – no interaction could have used it;
--   never_injected_share (0-1) – never picked in many chances; injected_never_used_share (0-1) – not used in
--   many injections; forget_share (0-1) – verdict forget
-- params: project=%
-- A share is NULL where nothing could be counted in it.
SELECT
    project,
    health,
    len(alarms) AS alarms_count,
    active_count,
    candidate_count,
    reference_count,
    used_expected,
    mean_strength,
    junk_share,
    duplicate_share,
    stale_share,
    never_eligible_share,
    never_injected_share,
    injected_never_used_share,
    forget_share
FROM project_health
WHERE project LIKE $project ESCAPE '\'
ORDER BY list_position(['critical', 'warning', 'unknown', 'healthy'], health), active_count DESC, project
