"""Charts: pure functions from a recipe's frame to an Altair chart, by what they are about.

Each takes rows in any order, an empty frame and any number of rows: it draws at most a few hundred marks and says what
it left out. Its title is the conclusion, its description says the figures to those who do not see it. Colours and sizes
are in `theme` alone.
"""
