"""Strategies that keep failing, and what works instead.

Evidence may be looked at every night: e-values, not p-values, decide.
"""
