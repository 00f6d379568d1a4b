-- question: Which document chunks do interactions use, and which documents?
-- columns: project – of the interactions, '' is none; document_id – the document, empty where the chunk's id names none;
--   document_used_count (interactions) – used any of its chunks, each once; document_chunks_count (chunks) – of it that
--   were used; chunk_id – the chunk; used_count (interactions) – used the chunk; first_used_at (UTC) – the first;
--   last_used_at (UTC) – the last
-- params: project=%; limit=100
-- Of the id `document#chunk` the document is what stands before the last #. The most used documents come first.
SELECT
    project,
    document_id,
    document_used_count,
    document_chunks_count,
    chunk_id,
    used_count,
    first_used_at,
    last_used_at
FROM chunk_use
WHERE project LIKE $project ESCAPE '\'
ORDER BY greatest(document_used_count, used_count) DESC, project, document_id, used_count DESC, chunk_id
LIMIT $limit::BIGINT
