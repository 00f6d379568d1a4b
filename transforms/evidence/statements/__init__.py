"""`extract/1`: statements of answers that look worth remembering.

The rules are AtoCore's, described in `extract`; params choose which apply.
"""
