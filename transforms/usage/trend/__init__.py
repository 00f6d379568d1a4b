"""Whether a memory is referenced more or less than before, per active day of its project.

A word changes after two looks that agree.
"""
