"""Statements in use that may be one fact, likeliest first.

Proposals for people: nothing is merged here.
"""
