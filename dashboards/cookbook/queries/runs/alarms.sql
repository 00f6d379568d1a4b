-- question: What is wrong with the memory of which project?
-- columns: project – the project, '' is none; level – critical or warning; alarm – what is wrong, with the figures;
--   active_count (memories) – in use; judged_count (memories) – of them with a use or enough chances of one
-- params: project=%
SELECT
    project,
    split_part(alarm, ': ', 1) AS level,
    regexp_replace(substr(alarm, strpos(alarm, ': ') + 2), '^(given|injected) ', 'Memories were \1 ') AS alarm,
    active_count,
    judged_count
FROM (SELECT project, unnest(alarms) AS alarm, active_count, judged_count FROM project_health)
WHERE project LIKE $project ESCAPE '\'
ORDER BY level, active_count DESC, project, alarm
