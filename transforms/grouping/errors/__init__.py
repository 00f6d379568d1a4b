"""Error messages to errors and their families: `error/3`, and the versions before it.

Rules speak of shapes (numbers, paths, ids), never of one system's words.
"""
