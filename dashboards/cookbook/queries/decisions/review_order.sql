-- question: Which memories to look at first, when minutes are few?
-- columns: memory_id – the memory; project – its project; verdict – what to do as it stands; review_value (successes
--   per minute) – expected loss that a minute of looking avoids; reasons – why; content – its text
-- params: project=%
SELECT memory_id, project, verdict, review_value, reasons, content
FROM memory_health
WHERE review_value > 0 AND coalesce(project, '') LIKE $project ESCAPE '\'
ORDER BY review_value DESC, memory_id
