-- question: Which facts are at odds, so that only one of them can hold?
-- columns: observation_id – a fact; project – its project, '' is none; proof_count (sources) – distinct sources of it;
--   text – its words; contradicting_id – what it is at odds with; contradicting_proof_count (sources) – sources of that;
--   contradicting_text – its words
-- params: project=%; limit=100
-- Neither says which of them holds now: a person decides (`slowwave review list --kind contradiction`).
SELECT
    o.observation_id,
    o.project,
    o.proof_count,
    o.text,
    other.observation_id AS contradicting_id,
    other.proof_count AS contradicting_proof_count,
    other.text AS contradicting_text
FROM observations AS o
JOIN observations AS other
    ON o.observation_id < other.observation_id AND list_has_any(o.contradicts, other.memory_ids)
WHERE o.project LIKE $project ESCAPE '\'
ORDER BY o.proof_count + other.proof_count DESC, o.observation_id, other.observation_id
LIMIT $limit::BIGINT
