"""Langfuse's exports: traces, observations of either table, and scores, as rows of the landing contract.

Rows are identified by their columns, so that it does not matter in which file or format they were.
"""
