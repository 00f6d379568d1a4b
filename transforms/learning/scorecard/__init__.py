"""How good the published forecasts were, beside simple rules on the same attempts.

Grades are of the rows that were published, never of better ones.
"""
