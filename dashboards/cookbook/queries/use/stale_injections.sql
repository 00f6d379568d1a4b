-- question: Which memories were still injected after they were superseded, invalid or expired?
-- columns: memory_id – the memory; project – its project, '' is none; status – its state now; stale_injected_count
--   (interactions) – were given it while it was one of these; last_stale_injected_at (UTC) – the last of them;
--   stale_hours (hours) – from when it became so to the last of them; content – its text
-- params: project=%
-- `slowwave why MEMORY_ID --all` lists the interactions; they stand in stale_injections, one row each.
SELECT
    memory_id,
    project,
    status,
    stale_injected_count,
    last_stale_injected_at,
    stale_hours,
    content
FROM memory_health
WHERE stale_injected_count > 0 AND coalesce(project, '') LIKE $project ESCAPE '\'
ORDER BY last_stale_injected_at DESC, memory_id
