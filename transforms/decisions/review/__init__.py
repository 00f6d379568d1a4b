"""What waits for a person's word, what speaks for it, and what was said.

An item keeps its id for as long as it is about the same.
"""
