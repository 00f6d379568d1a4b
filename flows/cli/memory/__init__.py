"""`slowwave memory`: the commands that change one memory, and what they say of it before they do.

What a change is made of stands in `flows/decide`; here is what a person types and sees.
"""
