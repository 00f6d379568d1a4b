"""memory_health and what follows from it: verdicts with reasons, what a look at it is worth, projects, history.

A verdict is a function of the published row alone; its reasons name their figures.
"""
