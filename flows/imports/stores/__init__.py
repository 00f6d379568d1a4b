"""Stores of memories: SQLite files are copied and the copy is read, files of memories are read as they lie there.

Nothing is ever written to a store. What was seen of it last time is kept, so that only what is new is landed.
"""
