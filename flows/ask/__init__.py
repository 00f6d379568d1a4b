"""Commands that only read: sql, report, diff, export.

They see one publish each, and take no lock.
"""
