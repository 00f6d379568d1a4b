"""How the memory of each project is doing.

Sums of memory_health, with params of its own.
"""
