-- question: What can these logs answer, and what do they lack?
-- columns: asked – the question; answer – the answer, or why there is none, with the figures; lacks – what to record so
--   that it can be answered, or better, NULL: nothing; is_answered – the logs hold what an answer needs;
--   rests_on_count (interactions, or attempts) – what it rests on; question – given, used, works or help; project – the
--   project, '' is none, and everything
-- params: project=%
-- Without a project: of everything that landed.
SELECT
    asked,
    answer,
    lacks,
    is_answered,
    rests_on_count,
    question,
    project
FROM answerable_questions
WHERE
    CASE
        WHEN $project = '%' THEN extent = 'all'
        ELSE extent = 'project' AND project LIKE $project ESCAPE '\'
    END
ORDER BY project, list_position(['given', 'used', 'works', 'help'], question)
