"""Files that `slowwave capture` puts into the inbox: how they are named, merged, and claimed by a landing.

Merging and claiming exclude each other by a lock, so that a row is in one file only whenever a landing looks.
"""
