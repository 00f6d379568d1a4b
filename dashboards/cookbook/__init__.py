"""Questions with the SQL that answers them.

Report and dashboard ask nothing else; a query is one file under `queries/`.
"""
