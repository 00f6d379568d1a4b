-- severity: warn
-- Memories that were injected but never landed: their text, project and status are not known.
SELECT memory_id, injected_count
FROM memory_health
WHERE status IS NULL
ORDER BY injected_count DESC, memory_id
