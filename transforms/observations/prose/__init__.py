"""Changes that are told in prose: what was meant and is said to be done in other words, verdicts, and what is so now.

What is beside `work` in `observe/5`; lists of words here belong to one version of the method.
"""
