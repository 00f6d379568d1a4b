-- question: Which facts stand behind the memories, and on how many sources?
-- columns: observation_id – the fact (`why` explains it); project – its project, '' is none; scope – memory type, and
--   agent where there is one; proof_count (sources) – distinct sources; memories_count (memories) – active memories that
--   state it; confidence (0-1) – from how references to them ended, null is not known; freshness – fresh, ageing or
--   stale; trend – of their use; text – the fact in the words of its best memory
-- params: search=; freshness=%; project=%; limit=100; offset=0
-- Saying a thing again, or replaying the log, adds no source. `search` is found anywhere in the text, upper or lower
-- case, and no pattern.
SELECT
    observation_id,
    project,
    scope,
    proof_count,
    len(memory_ids) AS memories_count,
    confidence,
    freshness,
    trend,
    text
FROM observations
WHERE
    contains(lower(text), lower($search))
    AND freshness LIKE $freshness ESCAPE '\'
    AND project LIKE $project ESCAPE '\'
ORDER BY proof_count DESC, memories_count DESC, last_evidence_at DESC, observation_id
LIMIT $limit::BIGINT OFFSET $offset::BIGINT
