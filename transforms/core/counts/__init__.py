"""Counts that fade with age, sums in a fixed order, and how well forecasts did.

The same to the last bit in whatever order rows come and however many threads there are.
"""
