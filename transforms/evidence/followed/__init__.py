"""Whether answers follow the instructions they were given, where a check can tell (`followed/1`).

`instructions` says what a memory expects of answers, `answers` what an answer shows of that; `checks` makes the table,
`counts` adds it up.
"""
