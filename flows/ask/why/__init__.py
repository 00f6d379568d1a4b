"""`slowwave why`: every count taken apart into the interactions behind it.

What is shown adds up to what is published.
"""
