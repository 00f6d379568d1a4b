-- question: How did the interactions that used each memory end, and how were they expected to end without it?
-- columns: memory_id – the memory; confirmed_count (interactions) – referenced in attempts that succeeded; contradicted_count
--   (interactions) – referenced in attempts that failed: not evidence that it is false; contradicted_expected (interactions) –
--   of exactly these uses, failures expected without it; confidence (0-1) – initial confidence moved by what went beyond
--   that; confidence_low (0-1) – lower end of its 90 % credible interval; confidence_high (0-1) – upper end; content –
--   its text
-- params: at_least=1
SELECT
    memory_id,
    confirmed_count,
    contradicted_count,
    contradicted_expected,
    confidence,
    confidence_low,
    confidence_high,
    content
FROM memory_health
WHERE confirmed_count + contradicted_count >= $at_least::BIGINT
ORDER BY confirmed_count + contradicted_count DESC, memory_id
