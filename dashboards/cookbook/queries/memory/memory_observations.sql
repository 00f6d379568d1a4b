-- question: Behind which facts does one memory stand?
-- columns: part – states (says it), earlier (an earlier state of it) or at odds (both cannot hold); observation_id – the fact (`why` explains it); project – its project, '' is none; proof_count (sources) – distinct sources;
--   memories_count (memories) – active memories that state it; confidence (0-1) – from how references to them ended, null
--   is not known; freshness – fresh, ageing or stale; text – the fact in the words of its best memory
-- params: memory_id
SELECT
    CASE
        WHEN list_contains(memory_ids, $memory_id) THEN 'states'
        WHEN list_contains(supersedes, $memory_id) THEN 'earlier'
        ELSE 'at odds'
    END AS part,
    observation_id,
    project,
    proof_count,
    len(memory_ids) AS memories_count,
    confidence,
    freshness,
    text
FROM observations
WHERE
    list_contains(memory_ids, $memory_id)
    OR list_contains(supersedes, $memory_id)
    OR list_contains(contradicts, $memory_id)
ORDER BY list_position(['states', 'earlier', 'at odds'], part), observation_id
