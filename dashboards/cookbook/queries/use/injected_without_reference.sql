-- question: Which memories were injected, with no use detected in any answer?
-- columns: memory_id – the memory; project – its project, '' is none; status – its state;
--   injected_count (interactions) – were given it; eligible_count (interactions) – could have used it;
--   cited_count (interactions) – whose answer names it all the same; content – its text
-- params: at_least=5
-- Of uses a part is detected, so this is no proof that a memory was of no use.
SELECT
    memory_id,
    project,
    status,
    injected_count,
    eligible_count,
    cited_count,
    content
FROM memory_health
WHERE injected_count >= $at_least::BIGINT AND reference_count = 0 AND status IS NOT NULL
ORDER BY injected_count DESC, memory_id
