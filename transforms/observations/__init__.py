"""The facts behind memories: which statements say the same, which follow one another, which are at odds.

Rules decide alone; what a model answered stands beside them.
"""
