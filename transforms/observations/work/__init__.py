"""Changes that notes of work tell: items ticked off, steps that were to be and were done, runs that went otherwise.

What is beside `states` and `turns` in `observe/4`; lists of words here belong to one version of the method.
"""
