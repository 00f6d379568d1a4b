-- question: Which rows were refused, and what did they say?
-- columns: landed_at (UTC) – when; source – the file it came in; row_number – line or row in it, NULL is the whole file;
--   field – the field at fault, '' is the row; reason – what is wrong, and what would be right; raw_text (first 500
--   characters) – the row as delivered
-- params: field=%; limit=100; offset=0
SELECT landed_at, source, row_number, field, reason, left(raw_text, 500) AS raw_text
FROM quarantine
WHERE field LIKE $field ESCAPE '\'
ORDER BY landed_at DESC, source, row_number NULLS FIRST, quarantine_id
LIMIT $limit::BIGINT
OFFSET $offset::BIGINT
