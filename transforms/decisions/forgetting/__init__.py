"""What may be archived, by which rule, and what it cost.

What is protected is never planned, whatever a rule says.
"""
