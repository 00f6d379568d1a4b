"""Retention and erasure: what expires by its age, and what is erased for good because it was named.

What goes is written down before anything goes, so that whoever is killed is followed by one who ends it.
"""
