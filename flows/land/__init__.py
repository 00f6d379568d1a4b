"""Delivered files become rows of the lake, once; what is bad goes to the quarantine with its bytes.

Nothing delivered is lost, whatever kills the process.
"""
