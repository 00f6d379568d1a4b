"""What outcomes teach of strategies and mistakes.

`learned` says in which order; each method has its golden table and changes only as a new version.
"""
