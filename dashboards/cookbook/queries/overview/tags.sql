-- question: Which tags do memories have, and how many have each?
-- columns: tag – the tag; memories (memories) – that have it
-- params: project=%
SELECT tag, count(*) AS memories
FROM (SELECT unnest(list_distinct(tags)) AS tag FROM memory_health WHERE coalesce(project, '') LIKE $project ESCAPE '\')
WHERE tag <> ''
GROUP BY tag
ORDER BY memories DESC, tag
