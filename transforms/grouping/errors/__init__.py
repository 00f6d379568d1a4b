"""Error messages to fingerprints and templates: `error/2`, and `error/1`.

Rules speak of shapes (numbers, paths, ids), never of one system's words.
"""
