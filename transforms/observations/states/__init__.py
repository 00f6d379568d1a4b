"""Changes of state: what was true before, and what is now.

Only of one subject and attribute; lists of words here belong to one version of the method.
"""
