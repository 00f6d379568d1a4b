"""Rows with other names than the contract's: which fields nobody knows, what they are like, and how they are mapped.

A mapping says of fields of the contract under which name, or path, a producer has them; it never overwrites.
"""
