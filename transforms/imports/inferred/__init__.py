"""Outcomes that nobody reported: inferred from what a turn's commands printed, by versioned rules.

Where a rule cannot tell, there is no row: an exit code behind a pipe and a mere word decide nothing.
"""
