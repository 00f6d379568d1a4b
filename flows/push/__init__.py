"""Scores and decisions go back to the stores that memories came from, by a person's word and the stores' own libraries.

Nothing else in the house writes to what is another program's.
"""
