-- severity: warn
-- Memories that were injected or cited but never landed: their text, project and status are not known.
SELECT memory_id, injected_count, cited_count
FROM memory_health
WHERE status IS NULL
ORDER BY injected_count + cited_count DESC, memory_id
