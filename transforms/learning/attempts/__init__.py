"""Which outcomes are attempts, of which task, in which session.

Every outcome that is not counted has its reason here.
"""
