-- severity: fail
-- A document was used at least as often as any of its chunks, at most as often as all of them, and has the chunks shown.
SELECT project, document_id, chunk_id, used_count, document_chunks_count, document_used_count
FROM chunk_use
QUALIFY
    used_count < 1
    OR first_used_at > last_used_at
    OR last_used_at >= as_of
    OR (document_id IS NULL) <> (document_used_count = 0)
    OR (document_id IS NULL) <> (document_chunks_count = 0)
    OR document_used_count < if(document_id IS NULL, 0, used_count)
    OR document_used_count > sum(used_count) OVER (PARTITION BY project, document_id)
    OR (document_chunks_count > 0 AND document_chunks_count <> count(*) OVER (PARTITION BY project, document_id))
