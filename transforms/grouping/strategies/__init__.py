"""Wordings of one strategy to one key.

The key is published with the wordings that it gathers.
"""
