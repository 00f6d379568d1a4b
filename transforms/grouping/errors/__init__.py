"""Error messages to errors and their families.

Rules speak of shapes (numbers, paths, ids), never of one system's words.
"""
