-- question: Which memories were injected and are not used?
-- columns: memory_id – the memory; project – its project, '' is none; status – its state;
--   injected_count (interactions) – were given it; eligible_count (interactions) – could have used it;
--   injected_use_expected (interactions) – were given it and may have used it, all probabilities; detectability (0-1) – how many uses are found;
--   cited_count (interactions) – whose answer names it all the same; content – its text
-- params: at_least=5
-- Had half of their injections used them, a use should have been found; of others `memory_health.use_state` says why nothing can be said.
SELECT
    memory_id,
    project,
    status,
    injected_count,
    eligible_count,
    injected_use_expected,
    detectability,
    cited_count,
    content
FROM memory_health
WHERE injected_count >= $at_least::BIGINT AND use_state = 'not_used' AND status IS NOT NULL
ORDER BY injected_count DESC, memory_id
