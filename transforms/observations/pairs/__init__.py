"""What two statements are to each other.

Numbers, dates, order, negation and names keep two apart always.
"""
