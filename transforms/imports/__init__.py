"""From what other programs write to rows of the landing contract: one adapter for each program, pure.

A released version of an adapter does not change: rows name it, and a later version supersedes what it made.
"""
