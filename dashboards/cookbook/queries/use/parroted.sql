-- question: Which memories are quoted mostly where the prompt already said the same?
-- columns: memory_id – the memory; project – its project, '' is none;
--   echoed_count (interactions) – answers that quote its first words;
--   parroted_count (interactions) – of them, those whose prompt held the same words;
--   parroted_share (0-1) – their share; content – its text
-- params: share=0.5
SELECT
    r.memory_id,
    any_value(h.project) AS project,
    any_value(h.echoed_count) AS echoed_count,
    count(*) AS parroted_count,
    count(*) / any_value(h.echoed_count) AS parroted_share,
    any_value(h.content) AS content
FROM memory_references AS r
JOIN memory_health AS h USING (memory_id)
WHERE r.in_prompt
GROUP BY r.memory_id
HAVING parroted_share > $share::DOUBLE
ORDER BY parroted_count DESC, r.memory_id
