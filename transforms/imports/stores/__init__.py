"""From the rows of a memory store's tables to rows of the landing contract: one file for each store.

Nothing here opens a database: the shell reads a copy of it and hands over plain rows.
"""
