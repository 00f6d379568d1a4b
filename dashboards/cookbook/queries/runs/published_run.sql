-- question: What was published, from what, and by which version of what?
-- columns: run_id – the run; kind – what ran; as_of (UTC) – the tables show what was known before; finished_at (UTC) – when
--   it was published; message – what audits warned of, NULL is nothing; days_count (days) – with evidence; input_hash –
--   digest of all it was computed from; params_hash – of the params; code_hash – of the code; version – of slowwave;
--   methods – used, with their versions
-- params: run_id=
-- Without run_id the last one.
SELECT run_id, kind, as_of, finished_at, message, days_count, input_hash, params_hash, code_hash, version, methods
FROM runs
WHERE input_hash IS NOT NULL AND $run_id IN ('', run_id)
ORDER BY run_id DESC
LIMIT 1
