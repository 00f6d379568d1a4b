"""`heuristic/1`: a forecast of success shrunk towards relatives.

Released: it is read for comparison, and stays as it is.
"""
