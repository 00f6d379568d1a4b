"""What outcomes teach of strategies and mistakes.

`learn_strategies` says in which order; each method has its golden table and changes only as a new version.
"""
