-- question: Which wordings were taken for the same strategy, and why?
-- columns: project – the project; representative – the shown wording; strategy – a wording; reason – why it was taken for
--   it; strategy_id – for `slowwave why`
-- params: project=%; strategy_id=%
SELECT
    project,
    representative,
    strategy,
    reason,
    strategy_id
FROM strategy_variants
WHERE project LIKE $project ESCAPE '\' AND strategy_id LIKE $strategy_id ESCAPE '\'
QUALIFY count(*) OVER (PARTITION BY project, strategy_id) > 1
ORDER BY project, representative, strategy
