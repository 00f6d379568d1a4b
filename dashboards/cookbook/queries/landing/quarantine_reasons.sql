-- question: Why were rows refused, and where did they come from?
-- columns: field – the field at fault, '' is the row; reason – the reason, what was found in its place left out;
--   refused (rows) – with it; sources (files) – they came in; last_source – the file of the last of them;
--   last_landed_at (UTC) – when that was landed
SELECT
    field,
    regexp_replace(reason, '''[^'']*''|(?:(byte|column|not) -?[\d.]+)', '\1 …', 'g') AS reason,
    count(*) AS refused,
    count(DISTINCT source) AS sources,
    max_by(source, (landed_at, source)) AS last_source,
    max(landed_at) AS last_landed_at
FROM quarantine
GROUP BY ALL
ORDER BY refused DESC, field, reason
