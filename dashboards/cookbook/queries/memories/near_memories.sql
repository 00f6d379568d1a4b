-- question: Which memories have an id like this one?
-- columns: memory_id – the memory; project – its project, '' is none; content (first 200 characters) – its text
-- params: memory_id; limit=5
SELECT memory_id, project, left(content, 200) AS content
FROM memory_health
WHERE
    starts_with(lower(memory_id), lower($memory_id))
    OR jaro_winkler_similarity(lower(memory_id), lower($memory_id)) > 0.85
ORDER BY
    starts_with(lower(memory_id), lower($memory_id)) DESC,
    jaro_winkler_similarity(memory_id, $memory_id) DESC,
    memory_id
LIMIT $limit::BIGINT
