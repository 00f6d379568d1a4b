"""The dashboard's pages, and what they share.

Pages read one publish; decisions, where they are allowed, are made by the commands that the pages show.
"""
