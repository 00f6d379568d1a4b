"""What should become of each memory as it was said: added, updated, superseded, left.

Judged by what was active just before, never by what came after.
"""
