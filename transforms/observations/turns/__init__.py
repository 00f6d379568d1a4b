"""Changes that show only when a later stage is known for one: a draft handed in, an injury healed, a step done.

Beside those of `states` (`observe/3`); lists of words here belong to one version of the method.
"""
