"""`slowwave why`: one screen about what an id names, and every count taken apart into the interactions behind it.

What is shown adds up to what is published.
"""
