-- question: Which tables were published, with how many rows, and did their values change?
-- columns: table_name – the table; rows_count (rows) – in it; values_hash – digest of its sorted values: equal is
--   unchanged; hash_before – that of the publish before, NULL is none
-- params: run_id=
-- Without run_id the last one. `slowwave inspect schema TABLE` says what a table's columns mean.
WITH
told AS (
    SELECT run_id, unnest(table_hashes) AS told
    FROM (
        SELECT run_id, table_hashes
        FROM runs
        WHERE input_hash IS NOT NULL AND ($run_id = '' OR run_id <= $run_id)
        ORDER BY run_id DESC
        LIMIT 2
    )
),
tables AS (
    SELECT
        run_id,
        split_part(told, '=', 1) AS table_name,
        split_part(split_part(told, '=', 2), '-', 1)::BIGINT AS rows_count,
        split_part(split_part(told, '=', 2), '-', 2) AS values_hash
    FROM told
)
SELECT t.table_name, t.rows_count, t.values_hash, before.values_hash AS hash_before
FROM tables AS t
LEFT JOIN tables AS before ON before.table_name = t.table_name AND before.run_id < t.run_id
WHERE t.run_id = (SELECT max(run_id) FROM tables)
ORDER BY t.table_name
