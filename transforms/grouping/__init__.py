"""Which words name the same strategy, and which messages are the same error.

A fingerprint is published: rules change only in a new version of a method.
"""
