"""One page a file.

Each is a function that `app` lists.
"""
