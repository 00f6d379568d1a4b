-- question: Which interactions were delivered in more than one version?
-- columns: interaction_id – the interaction; versions (rows) – landed; first_recorded_at (UTC) – the first of them;
--   last_recorded_at (UTC) – the last of them, which counts; days – UTC days they say it happened on
SELECT
    interaction_id,
    count(*) AS versions,
    min(recorded_at) AS first_recorded_at,
    max(recorded_at) AS last_recorded_at,
    list(DISTINCT created_at::DATE ORDER BY created_at::DATE) AS days
FROM interactions_log
GROUP BY interaction_id
HAVING versions > 1
ORDER BY versions DESC, last_recorded_at DESC, interaction_id
