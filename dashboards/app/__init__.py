"""The dashboard's pages, and what they share.

Pages read one publish; what they change goes through commands.
"""
