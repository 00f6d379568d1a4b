-- severity: fail
-- The proof of an observation is its distinct sources, each dated, and its words are those of one of its memories.
SELECT observation_id, proof_count, source_ids, source_times, memory_ids, best_memory_id
FROM observations
WHERE
    proof_count <> len(list_distinct(source_ids))
    OR len(source_ids) <> len(list_distinct(source_ids))
    OR len(source_times) <> len(source_ids)
    OR proof_count < 1
    OR NOT list_contains(memory_ids, best_memory_id)
    OR last_evidence_at >= as_of
    OR confidence NOT BETWEEN 0 AND 1
