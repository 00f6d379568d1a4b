-- question: How sure is the confidence of the active memories with the most evidence?
-- columns: memory_id – the memory; project – its project, '' is none; confidence (0-1) – initial confidence moved by how
--   its uses ended beyond what was expected; confidence_low (0-1) – lower end of its 90 % credible interval;
--   confidence_high (0-1) – upper end; confirmed_count (interactions) – referenced in attempts that succeeded;
--   contradicted_count (interactions) – referenced in attempts that failed: not evidence that it is false;
--   contradicted_expected (interactions) – of these uses, failures expected without it; content – its text
-- params: project=%; limit=25
-- Most evidence first: it is no list of the best. A memory without confidence has no use with an outcome to judge it by.
SELECT
    memory_id,
    project,
    confidence,
    confidence_low,
    confidence_high,
    confirmed_count,
    contradicted_count,
    contradicted_expected,
    content
FROM memory_health
WHERE status = 'active' AND confidence IS NOT NULL AND coalesce(project, '') LIKE $project ESCAPE '\'
ORDER BY confirmed_count + contradicted_count DESC, confidence_low DESC, memory_id
LIMIT $limit::BIGINT
