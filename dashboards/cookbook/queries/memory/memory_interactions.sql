-- question: What was asked and answered where one memory was injected, quoted, used or cited?
-- columns: occurred_at (UTC) – when; interaction_id – the interaction; agent – who; is_injected – it was given;
--   is_echoed – the answer quotes its first words; used_score (0-1) – estimated probability that it uses the memory in other words, empty below the threshold; passage – what of a long memory was found, empty is all of
--   it, or not used; is_cited – the answer names it itself; prompt – what was asked; response – what was answered
-- params: memory_id; limit=20
SELECT
    r.occurred_at,
    r.interaction_id,
    r.agent,
    r.is_injected,
    r.is_echoed,
    r.used_score,
    r.passage,
    r.is_cited,
    i.prompt,
    i.response
FROM memory_references AS r
LEFT JOIN interactions AS i USING (interaction_id)
WHERE r.memory_id = $memory_id
ORDER BY r.occurred_at DESC, r.interaction_id
LIMIT $limit::BIGINT
