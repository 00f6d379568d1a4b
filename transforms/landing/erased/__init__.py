"""Rows that are erased for good: which of those that landed go. Delivered again, they are refused."""
