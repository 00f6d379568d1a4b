"""Landed rows whose texts expired by their age. Rows that are erased for good, and are refused when delivered again."""
